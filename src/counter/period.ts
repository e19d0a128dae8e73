import { GraupelError, rangeError } from '../core/errors.js'
import { calendarEndMs, calendarStartMs } from '../pattern/calendar.js'

/** When a counter begins anew. */
export const resets = ['never', 'day', 'month', 'year'] as const

/** When a counter begins anew: with each day, month or year of its time zone, or never. */
export type Reset = (typeof resets)[number]

const minuteMs = 60_000

/** How much of a date in ISO 8601 names the period. */
const nameLengths: Readonly<Record<Reset, number>> = { never: 0, day: 10, month: 7, year: 4 }

/** By how much a clock may be behind the beginning of the period that the record has: what clocks of hosts differ by. */
const toleranceMs = 1000

/** A time, and the period that it is counted in. */
export interface Moment {
  /** Such as `2026-11-22`, `2026-11` or `2026`; empty where there is one period for ever. A later period has a later name. */
  readonly period: string
  /** Milliseconds since 1970, within the period. */
  readonly timeMs: number
}

/**
 * The period of a time.
 *
 * @throws RangeError `ERR_CLOCK_INVALID` where its year does not have four digits.
 */
export function periodAt(timeMs: number, reset: Reset, offsetMinutes: number): string {
  if (!(timeMs >= calendarStartMs(offsetMinutes) && timeMs <= calendarEndMs(offsetMinutes))) {
    throw rangeError(
      'ERR_CLOCK_INVALID',
      `the clock shows ${timeMs} ms since 1970, and years have four digits; set the clock`,
    )
  }
  return new Date(timeMs + offsetMinutes * minuteMs).toISOString().slice(0, nameLengths[reset])
}

/** The first millisecond of a period, which has a name. */
function beginOf(period: string, offsetMinutes: number): number {
  // A date without a time is one of UTC, however short it is (ECMAScript 21.4.1.32).
  return Date.parse(period) - offsetMinutes * minuteMs
}

/** Whether a text is the name of a period. */
export function isPeriod(period: string, reset: Reset): boolean {
  if (period.length !== nameLengths[reset]) return false
  return reset === 'never' || (/^\d/.test(period) && isSame(period, Date.parse(period), reset))
}

function isSame(period: string, timeMs: number, reset: Reset): boolean {
  return !Number.isNaN(timeMs) && periodAt(timeMs, reset, 0) === period
}

/**
 * The moment at which a number is counted. Periods never go back: just after a boundary a clock that is slightly behind counts in
 * the period that another process has begun.
 *
 * @param nowMs - What the clock shows.
 * @param latest - The latest period that a number was counted in; `undefined` where none was.
 * @throws GraupelError `ERR_CLOCK_ROLLBACK` where the clock is further behind; RangeError `ERR_CLOCK_INVALID`
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
    `the clock shows ${new Date(timeMs).toISOString()}, which is ${rollbackMs} ms before the ${reset} ${latest} that numbers were counted in; nothing is counted until it is there, or set the clock that is wrong`,
    { rollbackMs, retryAfterMs: rollbackMs - toleranceMs },
  )
}
