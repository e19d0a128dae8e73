import { quote, UsageError, wholeNumber } from './arguments.js'

const forms = 'give a day such as 2020-01-01, a time such as 2020-01-01T00:00:00Z, or milliseconds since 1970'

/**
 * A moment as typed, in milliseconds since 1970: a day of UTC, an ISO time with its zone, or the milliseconds.
 *
 * @throws UsageError `ERR_EPOCH_INVALID` also for what can be read in two ways: a year, a day without dashes, and a time without a zone
 */
export function momentOf(flag: string, text: string): number {
  const refuse = (what: string) => new UsageError('ERR_EPOCH_INVALID', `${flag} is ${quote(text)}${what}`)
  if (/^[12]\d{3}$/.test(text)) throw refuse(`, which may be a year or milliseconds; ${forms}`)
  if (/^[12]\d{3}[01]\d[0-3]\d$/.test(text)) throw refuse(`, which may be a day or milliseconds; ${forms}`)
  if (/^[+-]?[0-9]+$/.test(text)) return wholeNumber(flag, text, 'ERR_EPOCH_INVALID')
  const [, day, time, zone] =
    /^(\d{4}-\d\d-\d\d)(?:[Tt](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)([Zz]|[+-]\d\d:\d\d)?)?$/.exec(text) ?? []
  if (day === undefined) throw refuse(`; ${forms}`)
  if (time !== undefined && zone === undefined) {
    throw refuse(', a time without a zone; add Z for UTC, or an offset such as +08:00')
  }
  const dayMs = Date.parse(`${day}T00:00:00Z`)
  const ms = time === undefined ? dayMs : Date.parse(`${day}T${time}${zone?.toUpperCase()}`)
  // JavaScript takes 30 February for 1 March, and 24:00 for the next day.
  const isDay = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(day)
  if (!isDay || Number.isNaN(ms) || time?.startsWith('24'))
    throw refuse(', which no calendar or clock shows; correct it')
  return ms
}
