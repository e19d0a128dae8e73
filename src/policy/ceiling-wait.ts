import { platform } from '#platform'
import { CeilingOutcome, type Core } from '../engine/engine.js'
import type { NodeSource } from '../engine/source/node-source.js'
import type { Counters } from './counters.js'
import type { Policy } from './policy.js'

/** One call's wait for a ceiling to rise. Where `onOverflow` is to throw, it does not wait. */
export class CeilingWait {
  readonly #core: Core
  readonly #source: NodeSource
  readonly #maxMs: number
  readonly #counters: Counters
  readonly #startMs = platform.monotonicMs()
  #attempt = 0

  constructor(core: Core, source: NodeSource, policy: Policy, counters: Counters) {
    this.#core = core
    this.#source = source
    this.#maxMs = policy.onOverflow === 'throw' ? 0 : policy.maxWaitMs
    this.#counters = counters
    counters.waits++
  }

  /**
   * Waits, after the core was observed.
   *
   * @param mayBlock - Block until an attempt to raise the ceiling has ended.
   * @returns Whether an attempt has succeeded, so that the call can try again.
   * @throws GraupelError the core's failure if an attempt has failed; the source's error if all of them take too long.
   */
  poll(mayBlock: boolean): boolean {
    if (this.#source.rise?.()) {
      this.#counters.waitedMs += platform.monotonicMs() - this.#startMs
      return true
    }
    const cannotRise = mayBlock && !this.#source.isAwaited
    const leftMs = cannotRise ? 0 : Math.max(0, this.#maxMs - (platform.monotonicMs() - this.#startMs))
    const { outcome, attempt } = this.#core.awaitCeiling(
      this.#attempt,
      mayBlock ? Math.ceil(Math.min(leftMs, 2 ** 31)) : 0,
    )
    this.#attempt = attempt
    const waitedMs = platform.monotonicMs() - this.#startMs
    if (outcome === CeilingOutcome.timeout && waitedMs < this.#maxMs && !cannotRise) return false
    this.#counters.waitedMs += waitedMs
    if (outcome === CeilingOutcome.failed) throw this.#core.failure()
    if (outcome === CeilingOutcome.timeout) {
      const rule = this.#maxMs === 0 ? "onOverflow 'throw' allows" : `maxWaitMs (${this.#maxMs}) allows`
      throw this.#source.late(waitedMs, rule)
    }
    // For the next round, where the clock has gone on by more than a window.
    this.#attempt = 0
    return true
  }
}
