import { uuidOfUlid } from '../uuid/ulid.js'

/** An id that has not 64 bits, and that another library made. */
export interface OtherId {
  readonly kind: string
  /** Milliseconds since 1970; absent if ids of this kind have no time. */
  readonly timestampMs?: number
}

const dayMs = 24 * 3_600_000

/** Earlier times are chance: no kind of these ids is older. */
const earliestMs = Date.UTC(2000, 0)

/**
 * Each kind with its form and, if its ids have a time, the function that reads it. The first kind that fits
 * is named.
 */
const kinds: readonly (readonly [kind: string, form: RegExp, msOf?: (text: string) => number])[] = [
  ['ULID', /^[0-7][0-9a-hjkmnp-tv-z]{25}$/i, timeOfUlid],
  ['ObjectId', /^[0-9a-f]{24}$/i, (text) => Number.parseInt(text.slice(0, 8), 16) * 1000],
  ['KSUID', /^[0-9a-z]{27}$/i, (text) => (Number(base62(text) >> 128n) + 1_400_000_000) * 1000],
  // 7 digits have 35 bits, of which the first 32 are the time.
  ['xid', /^(?=\d*[a-v])[0-9a-v]{20}$/, (text) => Math.floor(Number.parseInt(text.slice(0, 7), 32) / 8) * 1000],
  ['CUID', /^c[0-9a-z]{24}$/, (text) => Number.parseInt(text.slice(1, 9), 36)],
  ['CUID2', /^(?=[a-z]+\d)[0-9a-z]{24}$/],
  ['nanoid', /^(?=.*[a-z])(?=.*[A-Z])[\w-]{21}$/],
  ['<t:…> of Discord', /^<t:\d+(?::\w)?>$/, (text) => Number.parseInt(text.slice(3), 10) * 1000],
]

/**
 * Names the kind of a text that is no id of 64 bits, by its form. A kind with a time fits if its time is
 * past, or at most a day ahead.
 */
export function otherIdOf(text: string, nowMs: number): OtherId | undefined {
  for (const [kind, form, msOf] of kinds) {
    if (!form.test(text)) continue
    if (msOf === undefined) return { kind }
    const timestampMs = msOf(text)
    if (timestampMs >= earliestMs && timestampMs <= nowMs + dayMs) return { kind, timestampMs }
  }
  return undefined
}

/** The time of a ULID, which is its first 48 bits. */
export function timeOfUlid(ulid: string): number {
  return Number.parseInt(uuidOfUlid(ulid).replace('-', '').slice(0, 12), 16)
}

const digits62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function base62(text: string): bigint {
  return [...text].reduce((sum, digit) => sum * 62n + BigInt(digits62.indexOf(digit)), 0n)
}
