import { platform } from '#platform'
import { type Core, type Observation, Status } from '../engine/engine.js'
import { type ErrorDetails, GraupelError, show, typeError } from '../errors.js'
import { type AheadEvent, publish } from '../events.js'
import type { Layout } from '../layout/index.js'
import type { Counters } from '../stats.js'
import { judge, type Situation, situationOf } from './judge.js'
import { type OverflowAction, type Policy, type RollbackAction, type RollbackEvent, rollbackActions } from './policy.js'
import { Rise } from './rise.js'

/** Something to be made: one id, or the rest of an array. Each call makes what it can and says how far that got. */
export interface Task {
  proceed(): Progress
  grant(nowTick: number, limitTick: number): Progress
  unused(nowTick: number): Progress
}
export type Progress = 'done' | 'some' | 'none'

/** What there is to wait for. */
export interface Wait {
  readonly untilTick: number
  readonly waitMs: number
  readonly situation: Situation
}

/** Whose ids they are; for messages and events. */
export interface Subject {
  readonly layout: Layout
  readonly namespace: string
  readonly node: number
  /** The clock is the user's: nothing but reading it makes it go on. */
  readonly injectedClock: boolean
  /** The state file; else empty. */
  readonly path: string
}

/** Ahead of the clock by so much is no word that a policy let run ahead, but one of a clock that was wrong. */
const implausibleMs = 3_600_000

/** Readings of a clock that stands still before a wait is given up. */
const injectedReadings = 1_000
const realReadings = 1_000_000

/** Waits during which the clock stepped back further, before a call is given up. */
const mostInVain = 100

/**
 * Comes in when an engine did not simply make an id: asks the policy, applies the verdict, and waits or refuses. Shared
 * by the calls that block (`run`) and those that do not (`round`, by the queue).
 */
export class Referee {
  readonly #core: Core
  readonly #policy: Policy
  readonly #subject: Subject
  readonly #counters: Counters
  /** What was counted last, so that one event of many calls is counted and published once. */
  #countedHighTick = -1
  #countedHeadTick = -1
  /** Whether `advance` has counted ahead of a clock that had stepped back. */
  #ledByRollback = false

  constructor(core: Core, policy: Policy, subject: Subject, counters: Counters) {
    this.#core = core
    this.#policy = policy
    this.#subject = subject
    this.#counters = counters
  }

  get hasInjectedClock(): boolean {
    return this.#subject.injectedClock
  }

  /** Blocks until the task is done. @throws GraupelError as the policy says. */
  run(task: Task): void {
    let inVain = 0
    let rise: Rise | undefined
    for (;;) {
      const outcome = this.round(task, true)
      if (outcome === 'done') return
      if (outcome === 'ceiling') {
        rise ??= this.rise()
        rise.poll(true)
        continue
      }
      rise = undefined
      if (outcome === 'again' || this.#block(outcome)) continue
      // A clock that goes to and fro is as good as one that stands still.
      inVain++
      if (inVain > mostInVain)
        throw this.#refusal(outcome.situation, this.#observe().nowMs, outcome.waitMs, 'wait', true)
    }
  }

  /**
   * One decision and what follows from it; never blocks.
   *
   * @param mayBlock - Whether what the caller does about a wait blocks.
   * @throws GraupelError as the policy says.
   */
  round(task: Task, mayBlock: boolean): 'done' | 'again' | 'ceiling' | Wait {
    const { layout } = this.#subject
    const seen = this.#observe()
    if (seen.status === Status.ceiling) return 'ceiling'
    const situation = situationOf(seen, layout.tickMs)
    if (situation === undefined) return task.proceed() === 'done' ? 'done' : 'again'
    // The observation is reused by the engine, and the policy may be a function of the user's.
    const now = { ...seen }
    this.#count(situation, now)
    const action = this.#action(situation, now)
    let verdict = judge(action, situation, now, this.#policy, layout, mayBlock)
    if (verdict.do === 'unused') {
      const progress = task.unused(now.nowTick)
      if (progress !== 'none') return progress === 'done' ? 'done' : 'again'
      verdict = judge('wait', situation, now, this.#policy, layout, mayBlock)
    }
    if (verdict.do === 'grant' && situation.kind === 'rollback') this.#ledByRollback = true
    if (verdict.do === 'grant') return task.grant(now.nowTick, verdict.limitTick) === 'done' ? 'done' : 'again'
    if (verdict.do === 'wait') return { untilTick: verdict.untilTick, waitMs: verdict.waitMs, situation }
    throw this.#refusal(situation, now.nowMs, (verdict as { retryAfterMs: number }).retryAfterMs, action)
  }

  /** Begins to wait for the ceiling. */
  rise(): Rise {
    return new Rise(this.#core, this.#policy, this.#counters)
  }

  /** For a wait that somebody else does. */
  countWait({ waitMs }: Wait): void {
    this.#counters.waits++
    this.#counters.waitedMs += waitMs
  }

  /** @throws GraupelError `ERR_CLOSED`, `ERR_CLOCK_BEFORE_EPOCH`, `ERR_LAYOUT_EXPIRED`; what the engine says of a state that is lost */
  #observe(): Observation {
    const { layout } = this.#subject
    const seen = this.#core.observe()
    if (seen.status === Status.closed) throw closedError()
    if (seen.status === Status.beforeEpoch) {
      throw new GraupelError(
        'ERR_CLOCK_BEFORE_EPOCH',
        `the clock shows ${timeOf(seen.nowMs)}, before the epoch of layout '${layout.name}', ${timeOf(layout.epochMs)}; set the clock, or choose an earlier epoch`,
      )
    }
    if (seen.status === Status.expired) throw expiredError(layout, seen.nowMs)
    if (seen.status === Status.unavailable) throw this.#core.failure()
    return seen
  }

  #action(situation: Situation, seen: Observation): RollbackAction | OverflowAction {
    const { onRollback, onOverflow } = this.#policy
    if (situation.kind === 'overflow') {
      // The clock has come back to where it was, and the word is ahead of it still, by what was counted meanwhile. That
      // lead is the rollback's: to judge it as an overflow would be to wait for as long as maxAheadMs.
      if (seen.lastTick <= seen.nowTick) this.#ledByRollback = false
      return this.#ledByRollback ? 'advance' : onOverflow
    }
    if (typeof onRollback === 'string') return onRollback
    const action = onRollback(this.#event(situation, seen.nowMs) as RollbackEvent)
    if (!rollbackActions.includes(action)) {
      throw typeError(
        'ERR_OPTION_INVALID',
        `the function onRollback returned ${show(action)}; return one of ${rollbackActions.map(show).join(', ')}`,
      )
    }
    return action
  }

  #count(situation: Situation, seen: Observation): void {
    if (situation.kind === 'rollback') {
      if (seen.highTick === this.#countedHighTick) return
      this.#countedHighTick = seen.highTick
      this.#counters.rollbacks++
    } else {
      if (seen.headTick === this.#countedHeadTick) return
      this.#countedHeadTick = seen.headTick
      this.#counters.overflows++
    }
    publish(situation.kind, this.#event(situation, seen.nowMs))
  }

  #event(situation: Situation, nowMs: number): AheadEvent {
    const { layout, namespace, node } = this.#subject
    const { kind, rollbackMs, aheadMs } = situation
    return { type: kind, layout: layout.name, namespace, node, nowMs, rollbackMs, aheadMs }
  }

  /** @returns Whether the clock has come to where it was waited for. */
  #block(wait: Wait): boolean {
    const { layout, injectedClock } = this.#subject
    const startMs = platform.monotonicMs()
    const dueMs = layout.epochMs + wait.untilTick * layout.tickMs
    this.#counters.waits++
    let lastMs = Number.NEGATIVE_INFINITY
    let readings = 0
    try {
      for (;;) {
        // Before the clock is read: a thread that is put aside between the two readings must not blame the clock.
        const waitedMs = platform.monotonicMs() - startMs
        const { nowMs, nowTick } = this.#observe()
        if (nowTick >= wait.untilTick) return true
        // Stepped back further while we waited: that is for the policy to judge anew.
        if (dueMs - nowMs > this.#policy.maxWaitMs) return false
        readings = nowMs > lastMs ? 0 : readings + 1
        lastMs = Math.max(nowMs, lastMs)
        const isStill = injectedClock
          ? readings > injectedReadings
          : readings > realReadings || waitedMs > this.#policy.maxWaitMs + layout.tickMs
        if (isStill) throw this.#refusal(wait.situation, nowMs, dueMs - nowMs, 'wait', true)
        // The last millisecond is spent awake: to be late by one is to lose a tick of ids, and sleeps are late.
        if (!injectedClock && dueMs - nowMs > 2) platform.sleep(dueMs - nowMs - 1)
      }
    } finally {
      this.#counters.waitedMs += platform.monotonicMs() - startMs
    }
  }

  #refusal(situation: Situation, nowMs: number, retryAfterMs: number, action: string, isStill = false): GraupelError {
    const { layout, node } = this.#subject
    const { kind, rollbackMs, aheadMs } = situation
    const rule = isStill
      ? 'the policy waited, but the clock stood still'
      : action === 'throw'
        ? "the policy is 'throw'"
        : `policy '${action}' would have to wait ${retryAfterMs} ms, and maxWaitMs is ${this.#policy.maxWaitMs}`
    const details: ErrorDetails = { retryAfterMs }
    if (kind === 'rollback') {
      return new GraupelError(
        'ERR_CLOCK_ROLLBACK',
        `the clock stepped back by ${rollbackMs} ms to ${timeOf(nowMs)}, and node ${node} has issued ids up to ${aheadMs} ms later; ${rule}: try again in ${retryAfterMs} ms${this.#wayOut(aheadMs)}`,
        { ...details, rollbackMs },
      )
    }
    return new GraupelError(
      'ERR_SEQUENCE_OVERFLOW',
      `node ${node} has issued all ${2 ** layout.sequence.bits} ids of every tick up to ${aheadMs} ms from ${timeOf(nowMs)}; ${rule}: try again in ${retryAfterMs} ms, or choose a layout with a wider sequence`,
      details,
    )
  }

  /** What to do about ids that a wrong clock has made, and that outlive its process. */
  #wayOut(aheadMs: number): string {
    const memory = this.#core.memory()
    if (aheadMs < implausibleMs || memory === undefined) return ''
    const { path } = this.#subject
    const forgotten = path === '' ? '' : `, which has to be followed by deleting ${path}`
    return `. A clock that was wrong has made ids of ${timeOf(this.#core.observe().nowMs + aheadMs)}, which ${memory} remembers: if none of them was kept, stop the processes that use this node, and forget them with 'npx graupel state --clean ${memory}'${forgotten}; else use another node`
  }
}

/** @internal */
export function closedError(): GraupelError {
  return new GraupelError('ERR_CLOSED', 'the generator is closed; create another one')
}

/** @internal */
export function expiredError(layout: Layout, nowMs: number): GraupelError {
  return new GraupelError(
    'ERR_LAYOUT_EXPIRED',
    `layout '${layout.name}' expired on ${layout.expiresAt.toISOString()}, and the clock shows ${timeOf(nowMs)}; choose a later epoch or a layout with a wider timestamp`,
  )
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
