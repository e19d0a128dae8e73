import { type Counter, openCounter } from './counter.js'
import { type CounterOptions, checkCounterOptions } from './options.js'

/**
 * Opens a counter: consecutive numbers that all processes share which give the same name, without a gap and without a repeat
 * (docs/numbers.md, "Counters"). Reads its record, and writes nothing until the first number is taken.
 *
 * @param options - `store` and `name` are required; {@link CounterOptions} describes all.
 * @throws TypeError `ERR_OPTION_UNKNOWN`; TypeError, RangeError `ERR_OPTION_INVALID`, `ERR_PATTERN_INVALID`; GraupelError
 * `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`; `ERR_STATE_MISMATCH` where the name has numbers of another kind, or other rules for
 * `reset`, `timeZone` or `start`; `ERR_STATE_CORRUPT`; the reason of `signal`.
 * @example
 * const counter = await createCounter({ store: memoryStore(), name: 'invoices', pattern: 'IN-{count:6}' })
 * await counter.next() // 'IN-000001'
 * await counter.take(2) // ['IN-000002', 'IN-000003']
 */
export async function createCounter(options: CounterOptions): Promise<Counter> {
  const resolved = checkCounterOptions(options)
  resolved.signal?.throwIfAborted()
  return openCounter(resolved)
}
