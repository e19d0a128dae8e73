import { GraupelError, show } from '../core/errors.js'
import { onAbort } from '../core/timing.js'
import { high, low } from '../core/typed-array.js'
import type { Layout } from '../layout/index.js'
import { isAscendingByTime } from './replays.js'

/** The part of an answer of `fetch` that a client uses. */
export interface Answer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: { getReader(): Reader; cancel(): Promise<unknown> } | null
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(): Promise<unknown>
}

/** A request, as far as the answer is checked against it. */
export interface Asked {
  readonly url: string
  readonly count: number
  /** `undefined` for numbers of a segment. */
  readonly layout: Layout | undefined
}

/** The most bytes that are read of a refusal, whose text is short. */
const maxProblemBytes = 16_384

/**
 * Reads the ids of an answer with status 200 into memory of their own. An answer with any fault is not used at all.
 *
 * @throws GraupelError `ERR_SERVICE_INVALID`; an error of the body's stream
 */
export async function readIds(answer: Answer, asked: Asked, signal: AbortSignal): Promise<BigUint64Array> {
  const { url, count, layout } = asked
  const fault = headerFault(answer, asked)
  if (fault !== undefined) {
    answer.body?.cancel().catch(() => {})
    throw invalid(url, fault)
  }
  const bytes = await readBody(answer, count * 8, signal)
  if (bytes === undefined) throw invalid(url, `has more than the ${count * 8} bytes of ${count} ids`)
  if (bytes.length < count * 8) {
    throw invalid(url, `has ${bytes.length} bytes, and ${count} ids are ${count * 8} bytes`)
  }
  // The server writes little-endian, which nearly all machines read.
  if (low === 1) swap(bytes)
  const ids = new BigUint64Array(bytes.buffer)
  const wrong = idFault(ids, layout)
  if (wrong !== undefined) throw invalid(url, wrong)
  return ids
}

/** Reads the text of a refusal. A text of more than 16 KiB counts as empty. */
export async function readText(answer: Answer, signal: AbortSignal): Promise<string> {
  const bytes = await readBody(answer, maxProblemBytes, signal)
  return new TextDecoder().decode(bytes)
}

/** Makes the error of an answer that cannot be used. @param fault - A sentence without its subject. */
export function invalid(url: string, fault: string): GraupelError {
  return new GraupelError(
    'ERR_SERVICE_INVALID',
    `the answer of ${url} ${fault}; nothing of it is used. Look for a proxy in between, or for another service at this URL`,
  )
}

function headerFault({ headers }: Answer, { count, layout }: Asked): string | undefined {
  const header = (name: string) => headers.get(name)
  const [type = ''] = (header('content-type') ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/octet-stream') {
    return `has the content type ${show(header('content-type') ?? '')}, and not application/octet-stream`
  }
  if (header('graupel-byte-order') !== 'little-endian') {
    return `has ${show(header('graupel-byte-order') ?? '')} for Graupel-Byte-Order, and not 'little-endian'`
  }
  if (layout !== undefined && header('graupel-layout') !== layout.name) {
    return `has ids of layout ${show(header('graupel-layout') ?? '')}, and ${show(layout.name)} was asked for`
  }
  if (header('age') !== null) return 'has an Age: a cache has kept it, and may give its ids to other clients'
  const length = header('content-length')
  // A compressed body has another length. The bytes that are read are counted in any case.
  if (length !== null && header('content-encoding') === null && length !== String(count * 8)) {
    return `has the length ${show(length)}, and ${count} ids are ${count * 8} bytes`
  }
  return undefined
}

function idFault(ids: BigUint64Array<ArrayBuffer>, layout: Layout | undefined): string | undefined {
  // By halves, because reading bigints takes ten times as long.
  const halves = new Uint32Array(ids.buffer)
  const isAscending = layout === undefined || isAscendingByTime(layout)
  const maxHigh = layout === undefined || layout.bits >= 64 ? Infinity : 2 ** Math.max(0, layout.bits - 32)
  const isWide = layout !== undefined && layout.bits < 32
  for (let at = 0; at < halves.length; at += 2) {
    const upper = halves[at + high] as number
    const lower = halves[at + low] as number
    if (upper >= maxHigh || (isWide && lower >= 2 ** (layout as Layout).bits)) {
      return `has ${ids[at / 2]}, which does not fit the ${layout?.bits} bits of layout ${show(layout?.name)}`
    }
    if (at === 0) continue
    const upperBefore = halves[at - 2 + high] as number
    const isMore = upper > upperBefore || (upper === upperBefore && lower > (halves[at - 2 + low] as number))
    if (isAscending && !isMore) return `has ${ids[at / 2]} after ${ids[at / 2 - 1]}, and ids of one answer ascend`
  }
  return undefined
}

/** Copies at most `most` bytes, because a `fetch` may use its own memory again. Returns `undefined` if there are more. */
async function readBody(
  { body }: Answer,
  most: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = new Uint8Array(most)
  if (body === null) return bytes.subarray(0, 0)
  const reader = body.getReader()
  const cancel = () => {
    reader.cancel().catch(() => {})
  }
  onAbort(signal, cancel)
  let at = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done || value === undefined) return bytes.subarray(0, at)
    if (at + value.length > most) {
      cancel()
      return undefined
    }
    bytes.set(value, at)
    at += value.length
  }
}

/** Swaps the bytes of each element from little-endian to big-endian, in place. */
export function swap(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < bytes.length; at += 8) view.setBigUint64(at, view.getBigUint64(at, true))
}
