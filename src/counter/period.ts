import { GraupelError, rangeError } from '../core/errors.js'
import { calendarEndMs, calendarStartMs } from '../pattern/calendar.js'

/** The periods after which a counter may begin anew. */
export const resets = ['never', 'day', 'month', 'year'] as const

/** The period after which a counter begins anew: each day, month or year of its time zone, or never. */
export type Reset = (typeof resets)[number]

const minuteMs = 60_000

/** How many characters of a date in ISO 8601 name the period. */
const nameLengths: Readonly<Record<Reset, number>> = { never: 0, day: 10, month: 7, year: 4 }

/** How far a clock may be behind the beginning of the record's period, because clocks of hosts differ. */
const toleranceMs = 1000

/** A time, and the period that it is counted in. */
export interface Moment {
  /**
   * A name such as `2026-11-22`, `2026-11` or `2026`; empty if the counter is never reset. Names sort as
   * their periods do.
   */
  readonly period: string
  /** Milliseconds since 1970, within the period. */
  readonly timeMs: number
}

/**
 * Names the period of a time.
 *
 * @throws RangeError `ERR_CLOCK_INVALID` if its year does not have four digits.
 */
export function periodAt(timeMs: number, reset: Reset, offsetMinutes: number): string {
  if (!(timeMs >= calendarStartMs(offsetMinutes) && timeMs <= calendarEndMs(offsetMinutes))) {
    throw rangeError(
      'ERR_CLOCK_INVALID',
      `the clock shows ${timeMs} ms since 1970, in a year without four digits; set the clock`,
    )
  }
  return new Date(timeMs + offsetMinutes * minuteMs).toISOString().slice(0, nameLengths[reset])
}

/** Returns the first millisecond of a period that has a name. */
function beginOf(period: string, offsetMinutes: number): number {
  // A date without a time is in UTC, however short it is (ECMAScript 21.4.1.32).
  return Date.parse(period) - offsetMinutes * minuteMs
}

/** Returns whether a text is the name of a period. */
export function isPeriod(period: string, reset: Reset): boolean {
  if (period.length !== nameLengths[reset]) return false
  return reset === 'never' || (/^\d/.test(period) && isSame(period, Date.parse(period), reset))
}

function isSame(period: string, timeMs: number, reset: Reset): boolean {
  return !Number.isNaN(timeMs) && periodAt(timeMs, reset, 0) === period
}

/**
 * Computes the moment at which a number is counted. Periods never go back: just after a boundary, a clock
 * that is slightly behind counts in the period that another process has begun.
 *
 * @param nowMs - The time that the clock shows.
 * @param latest - The latest period in which a number was counted; `undefined` if none was.
 * @throws GraupelError `ERR_CLOCK_ROLLBACK` if the clock is further behind; RangeError `ERR_CLOCK_INVALID`
 */
export function momentAt(nowMs: number, latest: string | undefined, reset: Reset, offsetMinutes: number): Moment {
  const timeMs = Math.floor(nowMs)
  const period = periodAt(timeMs, reset, offsetMinutes)
  if (latest === undefined || period >= latest) return { period, timeMs }
  const beginMs = beginOf(latest, offsetMinutes)
  const rollbackMs = beginMs - timeMs
  if (rollbackMs <= toleranceMs) return { period: latest, timeMs: beginMs }
  throw new GraupelError(
    'ERR_CLOCK_ROLLBACK',
    `the clock shows ${new Date(timeMs).toISOString()}, ${rollbackMs} ms before the ${reset} ${latest} in which numbers were counted; wait until the clock is there, or set the clock`,
    { rollbackMs, retryAfterMs: rollbackMs - toleranceMs },
  )
}
