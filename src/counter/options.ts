import { rangeError } from '../core/errors.js'
import { callTimeoutFrom, checkName, checkSignal, oneOf, readOptions, wholeFrom } from '../core/options.js'
import { offsetOf } from '../pattern/calendar.js'
import { checkStore } from '../stores/options.js'
import { keyOf } from '../stores/record.js'
import type { Store } from '../stores/store.js'
import { type Reset, resets } from './period.js'
import type { CounterRules } from './record.js'
import { CounterText } from './text.js'

/**
 * The options of {@link createCounter}. Every one is checked, and a name that does not exist is refused.
 *
 * @example
 * const pattern = 'IN-{yyyy}-{count:5}'
 * const yearly = { name: 'invoices', pattern, reset: 'year', timeZone: '+01:00' }
 * const counter = await createCounter({ store, ...yearly })
 * const first = await counter.next()
 * first.slice(-6) // '-00001'
 */
export interface CounterOptions {
  /** The store of the count: the result of a function of `graupel/stores/…`, or a store of your own. */
  store: Store
  /** Counters of one name share their numbers, in all processes. 1 to 128 characters. */
  name: string
  /**
   * The form of a number: text with `{count}`, or `{count:6}` for six digits, and units of time in braces:
   * `yyyy` or `yy`, `MM`, `dd`, `HH`, `mm`, `ss`, `SSS`. If the counter is reset, the pattern has to name the
   * period; `yy` does so for a century. Processes that share a counter may have different patterns.
   *
   * @default '{count}'
   */
  pattern?: string
  /** The period after which the count begins anew. @default 'never' */
  reset?: Reset
  /**
   * The zone of the dates and of the boundaries: `'UTC'`, or a fixed offset such as `'+08:00'`. @default
   * 'UTC'
   */
  timeZone?: string
  /** The first count of each period: a whole number from 0 to 2^53 - 1. @default 1 */
  start?: number
  /** How long one call of the store may take: milliseconds, 1 to 600 000. @default 2000 */
  callTimeoutMs?: number
  /** Cancels the creation, which then rejects with the signal's reason. */
  signal?: AbortSignal
}

const optionNames: readonly string[] = [
  'store',
  'name',
  'pattern',
  'reset',
  'timeZone',
  'start',
  'callTimeoutMs',
  'signal',
] satisfies (keyof CounterOptions)[]

/** The options of a counter, checked, with their defaults. */
export interface ResolvedOptions {
  readonly store: Store
  readonly rules: CounterRules
  readonly text: CounterText
  readonly callTimeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** @throws TypeError, RangeError by the codes that {@link createCounter} lists. */
export function checkCounterOptions(options: CounterOptions): ResolvedOptions {
  options = readOptions(options, optionNames, "{ store, name: 'invoices' }")
  const { store, name, pattern, signal } = options
  checkStore(store)
  checkName(name)
  checkSignal(signal)
  const reset: Reset = oneOf('reset', options.reset, resets, 'never')
  const offsetMinutes = offsetOf(options.timeZone ?? 'UTC')
  const text = new CounterText(pattern, reset, offsetMinutes)
  const start = wholeFrom('start', options.start, 1, 0, Number.MAX_SAFE_INTEGER)
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
    callTimeoutMs: callTimeoutFrom(options.callTimeoutMs),
    signal,
  }
}
