import { shortened, Told } from '../ids/trouble.ts'

/** The last millisecond of a `Date` (ECMAScript 21.4.1.1). */
const maxDateMs = 8.64e15

/**
 * Reads a time: milliseconds since 1970, or a day or time in ISO 8601. A time without an offset is UTC.
 *
 * @throws Told
 */
export function readTime(text: string): number {
  const plain = text.trim()
  if (/^-?\d{5,16}$/.test(plain)) return inRange(Number(plain), plain)
  const match = /^([+-]\d{6}|\d{4})(-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?\s*(Z|[+-]\d\d:?\d\d)?)?)?)?$/i.exec(
    plain,
  )
  if (match === null) throw new Told('troubleTime', { text: shortened(plain) })
  // JavaScript reads 30 February as 1 March.
  const day = plain.slice(0, plain.length - (match[4]?.length ?? 0))
  if (match[3] !== undefined && utcDay(day) !== day) throw new Told('troubleTime', { text: shortened(plain) })
  const hasTime = match[4] !== undefined
  const hasOffset = match[7] !== undefined
  const iso = plain
    .toUpperCase()
    .replace(' ', 'T')
    .replace(/\s/g, '')
    .replace(/([+-]\d\d)(\d\d)$/, hasOffset ? '$1:$2' : '$&')
  return inRange(Date.parse(hasTime && !hasOffset ? `${iso}Z` : iso), plain)
}

/** Returns the day of a date, or `undefined` if there is no such date. */
function utcDay(day: string): string | undefined {
  const ms = Date.parse(day)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().split('T')[0]
}

function inRange(ms: number, text: string): number {
  if (Number.isNaN(ms)) throw new Told('troubleTime', { text: shortened(text) })
  if (Math.abs(ms) > maxDateMs) throw new Told('troubleTimeRange', { text: shortened(text) })
  return ms
}

/** Reads a whole number in a range, both ends included. @throws Told */
export function readNumber(text: string, first: number, last: number): number {
  const plain = text.trim()
  const number = Number(plain)
  if (!/^-?\d+$/.test(plain) || number < first || number > last) {
    throw new Told('troubleNumber', { text: shortened(plain), first, last })
  }
  return number
}
