import type { Rows } from '../core/options.js'
import { choice, nameOfNumbers, whole } from '../core/readers.js'
import { abortSignal } from '../core/signal.js'
import { callTimeoutRow, storeOfUser } from '../stores/options.js'
import type { Store } from '../stores/store.js'
import { type Reset, resets } from './period.js'

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

export const counterRows = {
  store: { read: storeOfUser, isRequired: true },
  name: { read: nameOfNumbers, isRequired: true },
  pattern: {},
  reset: { read: choice, choices: resets, byDefault: 'never' },
  timeZone: { byDefault: 'UTC' },
  start: { read: whole, byDefault: 1 },
  callTimeoutMs: callTimeoutRow,
  signal: { read: abortSignal },
} satisfies Rows<CounterOptions>
