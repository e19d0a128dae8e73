import { show, typeError } from '../core/errors.js'
import { type AheadEvent, publish } from '../core/events.js'
import { type Core, type Observation, Status } from '../engine/engine.js'
import { CeilingWait } from './ceiling-wait.js'
import { ClockWait, type Wait } from './clock-wait.js'
import type { Counters } from './counters.js'
import { judge, type Situation, situationOf } from './judge.js'
import { type OverflowAction, type Policy, type RollbackAction, type RollbackEvent, rollbackActions } from './policy.js'
import { Refusals } from './refusal.js'
import type { Subject } from './subject.js'

/** Something to be made: one id, or the rest of an array. Each call makes what it can and says how far that got. */
export interface Task {
  /** At the time that the clock shows. */
  proceed(): Progress
  /** Up to `limitTick`, though the clock shows `nowTick`. */
  grant(nowTick: number, limitTick: number): Progress
  /** From what was left unused in the past tick `nowTick`. */
  unused(nowTick: number): Progress
}
export type Progress = 'done' | 'some' | 'none'

/** Waits during which the clock stepped back further, before a call is given up. */
const maxInVain = 100

/**
 * Runs where an engine did not simply make an id: asks the policy, applies the verdict, and waits or refuses. Shared by calls
 * that block (`run`) and calls that do not (`round`, by the queue).
 */
export class PolicyRunner {
  readonly #core: Core
  readonly #policy: Policy
  readonly #subject: Subject
  readonly #counters: Counters
  readonly #refusals: Refusals
  readonly #clockWait: ClockWait
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
    this.#refusals = new Refusals(core, policy, subject)
    this.#clockWait = new ClockWait(policy, subject, counters, this.#refusals)
  }

  get hasInjectedClock(): boolean {
    return this.#subject.hasInjectedClock
  }

  /** Blocks until the task is done. @throws GraupelError as the policy says. */
  run(task: Task): void {
    let inVain = 0
    let ceilingWait: CeilingWait | undefined
    for (;;) {
      const outcome = this.round(task, true)
      if (outcome === 'done') return
      if (outcome === 'ceiling') {
        ceilingWait ??= this.ceilingWait()
        ceilingWait.poll(true)
        continue
      }
      ceilingWait = undefined
      if (outcome === 'again' || this.#clockWait.block(outcome)) continue
      // A clock that goes to and fro is treated as one that stands still.
      inVain++
      if (inVain > maxInVain) {
        throw this.#refusals.ofClock(outcome.situation, this.#refusals.observe().nowMs, outcome.waitMs)
      }
    }
  }

  /**
   * One decision and what follows from it; never blocks.
   *
   * @param mayBlock - Whether the caller blocks where there is something to wait for.
   * @throws GraupelError as the policy says.
   */
  round(task: Task, mayBlock: boolean): 'done' | 'again' | 'ceiling' | Wait {
    const { layout } = this.#subject
    const seen = this.#refusals.observe()
    if (seen.status === Status.ceiling) return 'ceiling'
    const situation = situationOf(seen, layout.tickMs)
    if (situation === undefined) return task.proceed() === 'done' ? 'done' : 'again'
    // The observation is reused by the engine, and a policy function may use the generator.
    const now = { ...seen }
    this.#count(situation, now)
    const action = this.#action(situation, now)
    let verdict = judge(action, situation, now, this.#policy, layout, mayBlock)
    if (verdict.do === 'unused') {
      const progress = task.unused(now.nowTick)
      if (progress !== 'none') return progress === 'done' ? 'done' : 'again'
      verdict = judge('wait', situation, now, this.#policy, layout, mayBlock)
    }
    switch (verdict.do) {
      case 'grant':
        if (situation.kind === 'rollback') this.#ledByRollback = true
        return task.grant(now.nowTick, verdict.limitTick) === 'done' ? 'done' : 'again'
      case 'wait':
        return { untilTick: verdict.untilTick, waitMs: verdict.waitMs, situation }
      case 'throw':
        throw this.#refusals.ofPolicy(situation, now.nowMs, verdict.retryAfterMs, action)
      case 'unused':
        // `judge` answers it for the policy `reuse` alone, and that was 'wait'.
        throw new Error(`the verdict on 'wait' is 'unused'`)
    }
  }

  /** Begins to wait for the ceiling. */
  ceilingWait(): CeilingWait {
    return new CeilingWait(this.#core, this.#subject.source, this.#policy, this.#counters)
  }

  /** Counts a wait that the caller does. */
  countWait(wait: Wait): void {
    this.#clockWait.count(wait)
  }

  #action(situation: Situation, seen: Observation): RollbackAction | OverflowAction {
    const { onRollback, onOverflow } = this.#policy
    if (situation.kind === 'overflow') {
      // The clock has come back to where it was, and the word is still ahead of it, by what was counted meanwhile. The
      // rollback has caused that: judged as an overflow, it would be waited for as long as maxAheadMs.
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
    const { layout, namespace, source } = this.#subject
    const { kind, rollbackMs, aheadMs } = situation
    return { type: kind, layout: layout.name, namespace, node: source.node, nowMs, rollbackMs, aheadMs }
  }
}
