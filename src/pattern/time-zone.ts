import { rangeError, show, typeError } from '../core/errors.js'

/** The clocks of the world differ from UTC by 14 hours at most. */
const maxOffsetMinutes = 14 * 60

const remedy = "pass 'UTC' or a fixed offset from -14:00 to +14:00, such as '+08:00'"

/**
 * How many minutes a time zone is ahead of UTC. Only zones whose clocks never go back are allowed, because an hour that comes
 * twice gives one text to two moments.
 *
 * @param timeZone - `'UTC'`, `'Z'`, or an offset such as `'+08:00'` or `'-03:30'`.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function offsetOf(timeZone: unknown): number {
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
