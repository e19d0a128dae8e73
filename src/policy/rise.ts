import { platform } from '#platform'
import { CeilingOutcome, type CeilingWait, type Core } from '../engine/engine.js'
import { GraupelError } from '../errors.js'
import type { Counters } from '../stats.js'
import type { Policy } from './policy.js'

/**
 * One call's wait for the ceiling to rise: for a disk, that is, and not for the clock. Where the policy for a tick that
 * is used up is to throw, it does not wait.
 */
export class Rise {
  readonly #core: Core
  readonly #mostMs: number
  readonly #counters: Counters
  readonly #startMs = platform.monotonicMs()
  #wait: CeilingWait = { attempt: 0 }

  constructor(core: Core, policy: Policy, counters: Counters) {
    this.#core = core
    this.#mostMs = policy.onOverflow === 'throw' ? 0 : policy.maxWaitMs
    this.#counters = counters
    counters.waits++
  }

  /**
   * To be called after the core was observed. Blocks until an attempt has ended, if it may.
   *
   * @returns Whether one has succeeded, so that it is time to try again.
   * @throws GraupelError `ERR_STATE_UNAVAILABLE` if one has failed, with its reason, or if all of them take too long.
   */
  poll(mayBlock: boolean): boolean {
    const beforeMs = platform.monotonicMs()
    const leftMs = Math.max(0, this.#mostMs - (beforeMs - this.#startMs))
    const outcome = this.#core.awaitCeiling(this.#wait, mayBlock ? Math.ceil(Math.min(leftMs, 2 ** 31)) : 0)
    const waitedMs = platform.monotonicMs() - this.#startMs
    if (outcome === CeilingOutcome.timeout && waitedMs < this.#mostMs) return false
    this.#counters.waitedMs += waitedMs
    if (outcome === CeilingOutcome.failed) throw this.#core.failure()
    if (outcome === CeilingOutcome.timeout) {
      throw new GraupelError(
        'ERR_STATE_UNAVAILABLE',
        `the state file has been waited for ${Math.round(waitedMs)} ms, which is what ${this.#mostMs === 0 ? "onOverflow 'throw' allows" : `maxWaitMs (${this.#mostMs}) allows`}; no id is made above its ceiling: try again, or choose a larger windowMs`,
      )
    }
    // For the next round, should the clock have gone on by more than a window.
    this.#wait = { attempt: 0 }
    return true
  }
}
