// Declares `Disposable` for programs whose lib is older than ESNext and that have no @types/node.
/// <reference lib="esnext.disposable" preserve="true" />

import { platform } from '#platform'
import { rangeError, show, typeError } from '../core/errors.js'
import { readRow } from '../core/options.js'
import { abortSignal } from '../core/signal.js'
import type { Clock } from '../core/timing.js'
import { presentGeneration } from '../numbers/generation.js'
import { StoreCalls } from '../stores/calls.js'
import type { CounterOptions } from './options.js'
import { Pace } from './pace.js'
import { CounterProtocol, type CounterTools } from './protocol.js'
import { CounterQueue, Turns } from './queue.js'
import { checkCounterOptions, type ResolvedOptions } from './resolve.js'
import type { CounterText } from './text.js'

/** The most numbers of one call. Their texts take some megabytes. */
const maxTaken = 65_536

/** How long a call waits for a store that does not answer, in time limits of a call of the store. */
const answerCalls = 2

/** How long conflicts are tolerated, in time limits of a call of the store. */
const conflictCalls = 10

/** The result of `counter.stats()`. */
export interface CounterStats {
  /** Numbers that were given to callers. */
  issued: number
  /** Writes that the store has acknowledged. One write takes the numbers of all callers that wait. */
  writes: number
  /** Writes that came too late, because another process had written. */
  conflicts: number
  /** Numbers that were counted for calls that failed. The next calls get them. */
  held: number
  /**
   * Held numbers that are missing, because their period ended before the next call, or the machine was
   * copied.
   */
  lost: number
  /**
   * How often the store had forgotten writes that it had acknowledged, and this process continued from the
   * last count that it knew.
   */
  recovered: number
}

/**
 * Consecutive numbers that all processes share which use its name, made by {@link createCounter}. All
 * functions can be called without `this`. Calls of one process are answered in their order, except that a
 * call for which held numbers suffice may come first. Many calls at once take one write.
 *
 * @example
 * const { next } = await createCounter({ store, name: 'tickets', pattern: 'T{count:4}' })
 * await next() // 'T0001'
 */
export interface Counter extends Disposable {
  /** The name whose numbers it counts. */
  readonly name: string
  /**
   * Returns the next number as text, by the pattern.
   *
   * @throws GraupelError `ERR_COUNTER_OVERFLOW`, `ERR_CLOCK_ROLLBACK`: nothing was counted.
   * `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`, `ERR_STORE_UNSAFE`: if a number was counted nevertheless,
   * the next call gets it. `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT`, `ERR_CLOSED`; RangeError
   * `ERR_CLOCK_INVALID`.
   */
  next(this: void): Promise<string>
  /** Returns the next number without the pattern's text. Rejects as `next`. */
  nextNumber(this: void): Promise<number>
  /**
   * Returns `count` numbers in a row, 1 to 65 536, by one write.
   *
   * @param signal - Cancels the call, which rejects with the signal's reason when its turn has come or its
   * write has ended. The next calls get the numbers that were counted for it.
   * @throws TypeError, RangeError `ERR_OPTION_INVALID`; as `next`.
   */
  take(this: void, count: number, signal?: AbortSignal): Promise<string[]>
  /** Counts what this counter has done. */
  stats(this: void): CounterStats
  /**
   * Closes the counter. Calls that wait and later calls reject with `ERR_CLOSED`; calls whose write is under
   * way get their numbers.
   */
  close(this: void): void
}

/** All that a counter takes from outside. */
export interface CounterSurroundings extends Omit<Clock, 'background'>, CounterTools {}

/**
 * Opens a counter: consecutive numbers, without a gap and without a repeat, that all processes with the same
 * name share (docs/numbers.md, "Counters"). Reads its record, and writes nothing until the first number is
 * taken.
 *
 * @param options - `store` and `name` are required; {@link CounterOptions} describes all.
 * @throws TypeError `ERR_OPTION_UNKNOWN`; TypeError, RangeError `ERR_OPTION_INVALID`, `ERR_PATTERN_INVALID`;
 * GraupelError `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`, `ERR_STORE_UNSAFE`; `ERR_STATE_MISMATCH` if the
 * name has numbers of another kind, or other rules for `reset`, `timeZone` or `start`; `ERR_STATE_CORRUPT`;
 * `ERR_STATE_UNREACHABLE` while `node --build-snapshot` runs; the reason of `signal`.
 * @example
 * const counter = await createCounter({ store, name: 'invoices', pattern: 'IN-{count:6}' })
 * await counter.next() // 'IN-000001'
 * await counter.take(2) // ['IN-000002', 'IN-000003']
 */
export async function createCounter(options: CounterOptions): Promise<Counter> {
  platform.refuseSnapshot?.()
  const resolved = checkCounterOptions(options)
  resolved.signal?.throwIfAborted()
  return openCounter(resolved, ofPlatform, turnsOfProcess)
}

/** Opens a counter: reads its record. @throws as {@link createCounter} */
export async function openCounter(
  { store, rules, text, callTimeoutMs, signal }: ResolvedOptions,
  surroundings: CounterSurroundings,
  turns = new Turns(surroundings),
): Promise<Counter> {
  const { random } = surroundings
  const calls = new StoreCalls(store, surroundings, callTimeoutMs)
  const protocol = new CounterProtocol(calls, rules, surroundings)
  await protocol.read(signal)
  const { name } = rules
  const { max } = text
  const hasTime = rules.reset !== 'never' || text.hasTime
  const [conflictMs, answerMs] = [conflictCalls * callTimeoutMs, answerCalls * callTimeoutMs]
  const queueRules = { name, max, hasTime, conflictMs, answerMs, writeMs: callTimeoutMs }
  return asCounter(
    name,
    new CounterQueue(calls, protocol, queueRules, surroundings, new Pace(random), turns),
    protocol,
    text,
  )
}

function asCounter(name: string, queue: CounterQueue, protocol: CounterProtocol, text: CounterText): Counter {
  const close = () => queue.close()
  return {
    name,
    async next() {
      const { first, timeMs } = await queue.take(1)
      return text.at(timeMs)(first)
    },
    async nextNumber() {
      return (await queue.take(1)).first
    },
    async take(count, signal) {
      checkCount(count)
      readRow('signal', signal, { read: abortSignal })
      const { first, timeMs } = await queue.take(count, signal)
      const textOf = text.at(timeMs)
      return Array.from({ length: count }, (_, index) => textOf(first + index))
    },
    stats() {
      const { issued, writes, conflicts } = queue
      const { held, lost, recovered } = protocol
      return { issued, writes, conflicts, held, lost, recovered }
    },
    close,
    [Symbol.dispose]: close,
  }
}

function checkCount(count: unknown): void {
  if (typeof count !== 'number') {
    throw typeError('ERR_OPTION_INVALID', `count is ${show(count)} (${typeof count}); pass how many numbers to take`)
  }
  if (!Number.isInteger(count) || count < 1 || count > maxTaken) {
    throw rangeError('ERR_OPTION_INVALID', `count is ${count}; pass a whole number from 1 to ${maxTaken}`)
  }
}

const ofPlatform: CounterSurroundings = {
  wallMs: platform.wallMs,
  monotonicMs: platform.monotonicMs,
  later: platform.later,
  random: Math.random,
  generation: presentGeneration,
  newToken() {
    // Random and the time, like tokenAt(). Shorter, because a record holds two tokens for each of its
    // writers.
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
    return random.toString(36) + Math.floor(platform.monotonicMs() * 1000).toString(36)
  },
}

/** All counters of the process share its turns. */
const turnsOfProcess = new Turns(ofPlatform)
