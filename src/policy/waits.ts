import { platform } from '#platform'
import { CeilingOutcome } from '../state/engine.js'
import type { Situation } from './judge.js'
import type { Judged } from './policy.js'
import { clockError, observe } from './refusal.js'

/** A wait for the clock that a verdict asks for. */
export interface ClockWait {
  readonly untilTick: number
  readonly waitMs: number
  readonly situation: Situation
}

/** The waits of one call. Each method returns whether the call can try again now. */
export interface Waits {
  /** Whether the call blocks while it waits. */
  readonly mayBlock: boolean
  /**
   * Waits until the ceiling rises. @throws GraupelError the core's failure; the error of the node's source if
   * the wait takes too long
   */
  forCeiling(): boolean
  /** Tells that the next slot is below the ceiling. */
  leaveCeiling(): void
  /** Waits until the clock shows a tick. @throws GraupelError if the clock stands still */
  forClock(wait: ClockWait): boolean
}

/** Waits that the clock made vain by a step back, before a call is given up. */
const maxInVain = 100

/** The waits of a call that blocks. */
export class BlockingWaits implements Waits {
  readonly mayBlock = true
  readonly #judged: Judged
  #ceilingWait: CeilingWait | undefined
  #inVain = 0
  /** The latest tick that a wait has reached. */
  #reachedTick = -1

  constructor(judged: Judged) {
    this.#judged = judged
  }

  forCeiling(): boolean {
    this.#ceilingWait ??= new CeilingWait(this.#judged, platform.monotonicMs())
    this.#ceilingWait.poll(true)
    return true
  }

  leaveCeiling(): void {
    this.#ceilingWait = undefined
  }

  forClock(wait: ClockWait): boolean {
    const { untilTick } = wait
    if (blockUntil(this.#judged, wait)) {
      if (untilTick > this.#reachedTick) {
        this.#reachedTick = untilTick
        return true
      }
      // The clock has shown this tick before. A sleep lets a clock go on that jitters around the real time.
      platform.sleep(1)
    }
    // A clock that steps back again and again is treated as a clock that stands still.
    this.#inVain++
    if (this.#inVain <= maxInVain) return true
    throw clockError(this.#judged, wait.situation, observe(this.#judged).nowMs, wait.waitMs)
  }
}

/**
 * Milliseconds after which the clock is read again, however long the wait is: the clock may step, or be a
 * function.
 */
const maxPauseMs = 50

/** The waits of calls that do not block: of one after the other, which tries again after each pause. */
export class DeferredWaits implements Waits {
  readonly mayBlock = false
  /** Milliseconds until the next try. */
  pauseMs = 0
  readonly #judged: Judged
  #sinceMs = 0
  /** When the calls have met the ceiling, if they wait for it, and when one has looked last. */
  #ceilingMs: number | undefined
  #lookedMs = 0
  #ceilingWait: CeilingWait | undefined
  #untilTick = -1

  constructor(judged: Judged) {
    this.#judged = judged
  }

  /** Goes on with another call. @param sinceMs - When it was made. */
  begin(sinceMs: number): void {
    this.#sinceMs = sinceMs
    // A call that was made after the last look has not waited with the others.
    if (sinceMs > this.#lookedMs) this.#ceilingMs = undefined
    this.#ceilingWait = undefined
    this.#untilTick = -1
  }

  forCeiling(): boolean {
    this.#lookedMs = platform.monotonicMs()
    this.#ceilingMs ??= this.#lookedMs
    // A call has waited while those before it did: otherwise the last of a hundred would wait a hundred times
    // as long.
    this.#ceilingWait ??= new CeilingWait(this.#judged, Math.max(this.#sinceMs, this.#ceilingMs))
    this.pauseMs = 1
    return this.#ceilingWait.poll(false)
  }

  leaveCeiling(): void {
    this.#ceilingMs = undefined
    this.#ceilingWait = undefined
  }

  forClock({ untilTick, waitMs }: ClockWait): boolean {
    const { counters } = this.#judged
    // If the clock stands still, or a timer fires early, the call waits again; all of that counts as one
    // wait.
    if (this.#untilTick !== untilTick) {
      counters.waits++
      counters.waitedMs += waitMs
    }
    this.#untilTick = untilTick
    this.pauseMs = this.#pauseFor(Math.min(waitMs, maxPauseMs))
    return false
  }

  #pauseFor(waitMs: number): number {
    // A clock function may stand still, so it is not called without a pause.
    if (this.#judged.subject.hasInjectedClock) return Math.max(1, waitMs)
    // The last millisecond is spent in turns of the event loop, because timers are late by a fifth of a
    // millisecond: with timers a generator makes 87 % of 4 096 ids in each millisecond, and with turns 100 %.
    // Other work on the loop is not delayed.
    return waitMs > 1 ? waitMs - 1 : 0
  }
}

/** One call's wait for a ceiling to rise. If `onOverflow` is `'throw'`, it does not wait. */
class CeilingWait {
  readonly #judged: Judged
  readonly #maxMs: number
  readonly #startMs: number
  #round = 0

  constructor(judged: Judged, startMs: number) {
    const { policy, counters } = judged
    this.#judged = judged
    this.#startMs = startMs
    this.#maxMs = policy.onOverflow === 'throw' ? 0 : policy.maxWaitMs
    counters.waits++
  }

  /**
   * Waits, after the core was observed.
   *
   * @param mayBlock - Blocks until a round of raising the ceiling has ended.
   * @returns Whether a round has succeeded, so that the call can try again.
   * @throws GraupelError the core's failure if a round has failed; the source's error if all rounds take
   * too long
   */
  poll(mayBlock: boolean): boolean {
    const { core, subject, counters } = this.#judged
    const { source } = subject
    if (source.rise?.()) {
      counters.waitedMs += platform.monotonicMs() - this.#startMs
      return true
    }
    const cannotRise = mayBlock && source.kind === 'leased'
    const leftMs = cannotRise ? 0 : Math.max(0, this.#maxMs - (platform.monotonicMs() - this.#startMs))
    const blockMs = mayBlock ? Math.ceil(Math.min(leftMs, 2 ** 31)) : 0
    const { outcome, round } = core.awaitCeiling(this.#round, blockMs)
    this.#round = round
    const waitedMs = platform.monotonicMs() - this.#startMs
    if (outcome === CeilingOutcome.timeout && waitedMs < this.#maxMs && !cannotRise) return false
    counters.waitedMs += waitedMs
    if (outcome === CeilingOutcome.failed) throw core.report().failure
    if (outcome === CeilingOutcome.timeout) {
      const rule = this.#maxMs === 0 ? "onOverflow 'throw' allows" : `maxWaitMs (${this.#maxMs}) allows`
      throw source.late(waitedMs, rule)
    }
    // The ceiling may be too low again, if the clock has gone on by more than a window.
    this.#round = 0
    return true
  }
}

/** Readings of a clock that stands still before a wait is given up. */
const maxInjectedReadings = 1_000
const maxRealReadings = 1_000_000
/**
 * How long an injected clock has to stand still as well: one that wraps `Date.now()` is read a thousand times
 * within its millisecond.
 */
const minStillMs = 2

/**
 * Blocks until the clock shows a tick.
 *
 * @returns False if the clock has stepped back further meanwhile, which the policy has to judge anew.
 * @throws GraupelError if the clock stands still; as {@link observe}
 */
function blockUntil(judged: Judged, { untilTick, situation }: ClockWait): boolean {
  const { policy, subject, counters } = judged
  const { layout, hasInjectedClock } = subject
  const startMs = platform.monotonicMs()
  const dueMs = layout.epochMs + untilTick * layout.tickMs
  counters.waits++
  let lastMs = Number.NEGATIVE_INFINITY
  let readings = 0
  let movedMs = 0
  try {
    for (;;) {
      // Read before the clock: a thread that is suspended between the two readings must not blame the clock.
      const waitedMs = platform.monotonicMs() - startMs
      const { nowMs, nowTick } = observe(judged)
      if (nowTick >= untilTick) return true
      if (dueMs - nowMs > policy.maxWaitMs) return false
      readings = nowMs > lastMs ? 0 : readings + 1
      if (readings === 0) movedMs = waitedMs
      lastMs = Math.max(nowMs, lastMs)
      const isStill = hasInjectedClock
        ? readings > maxInjectedReadings && waitedMs - movedMs > minStillMs
        : readings > maxRealReadings || waitedMs > policy.maxWaitMs + layout.tickMs
      if (isStill) throw clockError(judged, situation, nowMs, dueMs - nowMs)
      // The last millisecond is spent awake: sleeps are late, and a sleep that is late by a millisecond loses
      // a tick of ids.
      if (!hasInjectedClock && dueMs - nowMs > 2) platform.sleep(dueMs - nowMs - 1)
    }
  } finally {
    counters.waitedMs += platform.monotonicMs() - startMs
  }
}
