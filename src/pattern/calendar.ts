import { rangeError, show, typeError } from '../core/errors.js'

/** Units of time as patterns name them, the largest first; `yy` is the year without its century. */
export const units = ['yyyy', 'yy', 'MM', 'dd', 'HH', 'mm', 'ss', 'SSS'] as const

/** The name of a unit of time: `MM` is the month, and `mm` the minute. */
export type Unit = (typeof units)[number]

/** Whether a placeholder stands for a unit of time. */
export function isUnit(placeholder: string): placeholder is Unit {
  return (units as readonly string[]).includes(placeholder)
}

/** The date and time of a moment, each unit as digits of constant width. */
export type UnitTexts = Readonly<Record<Unit, string>>

/** The Gregorian calendar repeats itself after 400 years. */
const cycleYears = 400
const cycleMs = 12_622_780_800_000
const minuteMs = 60_000

/** '00' to '99', and '000' to '999': no padding for each moment. Made when the first one is written. */
let pairs: readonly string[] = []
let triples: readonly string[] = []

/** The first moment of year 0 at that offset, in milliseconds since 1970. */
export function calendarStartMs(offsetMinutes: number): number {
  return Date.UTC(cycleYears, 0) - cycleMs - offsetMinutes * minuteMs
}

/** The last millisecond of year 9999 at that offset, in milliseconds since 1970. */
export function calendarEndMs(offsetMinutes: number): number {
  return Date.UTC(10_000, 0) - 1 - offsetMinutes * minuteMs
}

/**
 * The date and time of a moment as text.
 *
 * @param timeMs - Milliseconds since 1970, from {@link calendarStartMs} to {@link calendarEndMs}: four digits
 * hold no other year.
 */
export function unitTexts(timeMs: number, offsetMinutes: number): UnitTexts {
  if (pairs.length === 0) [pairs, triples] = [padded(2), padded(3)]
  const date = new Date(timeMs + offsetMinutes * minuteMs)
  const year = date.getUTCFullYear()
  const yy = pairs[year % 100] as string
  return {
    yyyy: (pairs[Math.floor(year / 100)] as string) + yy,
    yy,
    MM: pairs[date.getUTCMonth() + 1] as string,
    dd: pairs[date.getUTCDate()] as string,
    HH: pairs[date.getUTCHours()] as string,
    mm: pairs[date.getUTCMinutes()] as string,
    ss: pairs[date.getUTCSeconds()] as string,
    SSS: triples[date.getUTCMilliseconds()] as string,
  }
}

/**
 * The first moment with that date and time, in milliseconds since 1970; undefined if there is none, as on the
 * 31st of April.
 *
 * @param texts - Digits by unit, all four of the year. Units that are left out have their first value.
 */
export function timeOfTexts(
  texts: Partial<UnitTexts> & Pick<UnitTexts, 'yyyy'>,
  offsetMinutes: number,
): number | undefined {
  const { yyyy, MM = '01', dd = '01', HH = '00', mm = '00', ss = '00', SSS = '000' } = texts
  // Date.UTC treats the years 0 to 99 as 1900 to 1999.
  const year = Number(yyyy) + cycleYears
  const local = Date.UTC(year, Number(MM) - 1, Number(dd), Number(HH), Number(mm), Number(ss), Number(SSS)) - cycleMs
  const timeMs = local - offsetMinutes * minuteMs
  // Date.UTC treats the 31st of April as the 1st of May.
  const exact = unitTexts(timeMs, offsetMinutes)
  const isExact =
    exact.yyyy === yyyy &&
    exact.MM === MM &&
    exact.dd === dd &&
    exact.HH === HH &&
    exact.mm === mm &&
    exact.ss === ss &&
    exact.SSS === SSS
  return isExact ? timeMs : undefined
}

function padded(width: number): string[] {
  return Array.from({ length: 10 ** width }, (_, i) => String(i).padStart(width, '0'))
}

/** The clocks of the world differ from UTC by 14 hours at most. */
const maxOffsetMinutes = 14 * 60

const remedy = "pass 'UTC' or a fixed offset from -14:00 to +14:00, such as '+08:00'"

/**
 * How many minutes a time zone is ahead of UTC. Only zones whose clocks never go back are allowed, because an
 * hour that comes twice gives one text to two moments.
 *
 * @param timeZone - `'UTC'`, `'Z'`, or an offset such as `'+08:00'` or `'-03:30'`.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function readOffset(timeZone: unknown): number {
  if (typeof timeZone !== 'string') {
    throw typeError('ERR_OPTION_INVALID', `timeZone is ${show(timeZone)} (${typeof timeZone}); ${remedy}`, 'timeZone')
  }
  if (timeZone === 'UTC' || timeZone === 'Z') return 0
  const [, sign, hours, minutes] = /^([+-])([0-9]{2}):([0-5][0-9])$/.exec(timeZone) ?? []
  const offset = Number(hours) * 60 + Number(minutes)
  // -00:00 is the zone of +00:00, and no -0.
  if (offset <= maxOffsetMinutes) return sign === '-' && offset > 0 ? -offset : offset
  const reason = /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(timeZone)
    ? ', and the clocks of a named zone can go back, as they do after summer time: one text would stand for two moments'
    : ''
  throw rangeError('ERR_OPTION_INVALID', `timeZone is ${show(timeZone)}${reason}; ${remedy}`, 'timeZone')
}
