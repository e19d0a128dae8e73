import { platform } from '#platform'
import type { Counters } from './counters.js'
import type { Situation } from './judge.js'
import type { Policy } from './policy.js'
import type { Refusals } from './refusal.js'
import type { Subject } from './subject.js'

/** A wait for the clock that a verdict asks for. */
export interface Wait {
  readonly untilTick: number
  readonly waitMs: number
  readonly situation: Situation
}

/** Readings of a clock that stands still before a wait is given up. */
const maxInjectedReadings = 1_000
const maxRealReadings = 1_000_000

/** Waits of one generator for its clock. */
export class ClockWait {
  readonly #policy: Policy
  readonly #subject: Subject
  readonly #counters: Counters
  readonly #refusals: Refusals

  constructor(policy: Policy, subject: Subject, counters: Counters, refusals: Refusals) {
    this.#policy = policy
    this.#subject = subject
    this.#counters = counters
    this.#refusals = refusals
  }

  /** Counts a wait that the caller does without blocking. */
  count({ waitMs }: Wait): void {
    this.#counters.waits++
    this.#counters.waitedMs += waitMs
  }

  /**
   * Blocks until the clock has come to where it is waited for.
   *
   * @returns False where it has stepped back further meanwhile, which is for the policy to judge anew.
   * @throws GraupelError where the clock stands still; as {@link Refusals.observe}
   */
  block(wait: Wait): boolean {
    const { layout, hasInjectedClock } = this.#subject
    const startMs = platform.monotonicMs()
    const dueMs = layout.epochMs + wait.untilTick * layout.tickMs
    this.#counters.waits++
    let lastMs = Number.NEGATIVE_INFINITY
    let readings = 0
    try {
      for (;;) {
        // Before the clock is read: a thread that is suspended between the two readings must not blame the clock.
        const waitedMs = platform.monotonicMs() - startMs
        const { nowMs, nowTick } = this.#refusals.observe()
        if (nowTick >= wait.untilTick) return true
        if (dueMs - nowMs > this.#policy.maxWaitMs) return false
        readings = nowMs > lastMs ? 0 : readings + 1
        lastMs = Math.max(nowMs, lastMs)
        const isStill = hasInjectedClock
          ? readings > maxInjectedReadings
          : readings > maxRealReadings || waitedMs > this.#policy.maxWaitMs + layout.tickMs
        if (isStill) throw this.#refusals.ofClock(wait.situation, nowMs, dueMs - nowMs)
        // The last millisecond is spent awake: sleeps are late, and to be late by one is to lose a tick of ids.
        if (!hasInjectedClock && dueMs - nowMs > 2) platform.sleep(dueMs - nowMs - 1)
      }
    } finally {
      this.#counters.waitedMs += platform.monotonicMs() - startMs
    }
  }
}
