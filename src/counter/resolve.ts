import { rangeError } from '../core/errors.js'
import { type Resolved, readTable } from '../core/options.js'
import { readOffset } from '../pattern/calendar.js'
import { keyOf } from '../stores/record.js'
import { type CounterOptions, counterRows } from './options.js'
import type { CounterRules } from './record.js'
import { CounterText } from './text.js'

/** The options of a counter, checked, with their defaults. */
export interface ResolvedOptions
  extends Pick<Resolved<CounterOptions, typeof counterRows>, 'store' | 'callTimeoutMs' | 'signal'> {
  readonly rules: CounterRules
  readonly text: CounterText
}

/** @throws TypeError, RangeError by the codes that {@link createCounter} lists. */
export function checkCounterOptions(options: CounterOptions): ResolvedOptions {
  const read = readTable(options, counterRows, "{ store, name: 'invoices' }")
  const { store, name, reset, start, callTimeoutMs, signal } = read
  // `null` counts as not given, too.
  const offsetMinutes = readOffset(read.timeZone ?? 'UTC')
  const text = new CounterText(read.pattern, reset, offsetMinutes)
  if (start > text.max) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `start is ${start}, and the last count of the pattern is ${text.max}; give {count} more digits, or start lower`,
    )
  }
  return {
    store,
    rules: { name, key: keyOf(name), reset, offsetMinutes, start },
    text,
    callTimeoutMs,
    signal,
  }
}
