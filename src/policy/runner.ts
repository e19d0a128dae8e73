import { platform } from '#platform'
import { show, typeError } from '../core/errors.js'
import type { MoreNumbers, Progress, ReadyNumbers, Round, Task } from '../numbers/source.js'
import { type AheadEvent, publish } from '../platform/events.js'
import { type Core, type Observation, type Permit, Status } from '../state/engine.js'
import { judge, type Situation, situationOf } from './judge.js'
import { type Judged, type OverflowAction, type RollbackAction, type RollbackEvent, rollbackActions } from './policy.js'
import { observe, policyError } from './refusal.js'
import { BlockingWaits, DeferredWaits, type Waits } from './waits.js'

/**
 * Makes ids of a core that has none ready: observes the core, lets the policy judge, and grants what the
 * policy allows.
 */
export class PolicyRunner implements MoreNumbers {
  readonly #judged: Judged
  /** The task that tries without blocking. */
  #deferred: Task | undefined
  readonly #deferredWaits: DeferredWaits
  /** The ticks of the events counted last. An event that many calls meet is counted and published once. */
  #countedHighTick = -1
  #countedHeadTick = -1
  /** Whether `advance` has counted ahead of a clock that had stepped back. */
  #ledByRollback = false

  constructor(judged: Judged) {
    this.#judged = judged
    this.#deferredWaits = new DeferredWaits(judged)
  }

  /** Counts the events of a new state anew, although it may have the ticks of the former state. */
  follow(): void {
    this.#countedHighTick = -1
    this.#countedHeadTick = -1
  }

  finish(task: Task): void {
    this.#work(task, new BlockingWaits(this.#judged))
  }

  round(task: Task, sinceMs: number): Round {
    const waits = this.#deferredWaits
    if (this.#deferred !== task) waits.begin(sinceMs)
    // The runner must not keep the array of a task that has ended or failed.
    this.#deferred = undefined
    const outcome = this.#work(task, waits)
    if (outcome !== 'done') this.#deferred = task
    return outcome === 'later' ? waits.pauseMs : outcome
  }

  /** Works on a task until it is done; if it must not block, until it has made some ids or has to wait. */
  #work(task: Task, waits: Waits): 'done' | 'again' | 'later' {
    const { core, policy, subject } = this.#judged
    for (;;) {
      // A copy, because the engine reuses the object, and a policy function may use the generator.
      const seen = { ...observe(this.#judged) }
      if (seen.status === Status.ceiling || seen.status === Status.cloned) {
        if (waits.forCeiling()) continue
        return 'later'
      }
      waits.leaveCeiling()
      const { nowTick } = seen
      const situation = situationOf(seen, subject.layout.tickMs)
      let progress: Progress = 'none'
      if (situation === undefined) {
        // By the tick that was observed: a clock that jitters may show an earlier tick each time it is read.
        progress = task.proceed(permitted(core, { nowTick, limitTick: nowTick }))
      } else {
        this.#count(situation, seen)
        const action = this.#actionFor(situation, seen)
        let verdict = judge(action, situation, seen, policy, subject.layout, waits.mayBlock)
        // Before an id is taken: stderr may be a function of the program that makes ids.
        const facts = verdict.do === 'unused' ? { do: verdict.do } : verdict
        platform.debug?.('verdict', { ...this.#event(situation, seen.nowMs), action, ...facts })
        if (verdict.do === 'unused') {
          progress = task.proceed(permitted(core, { nowTick }))
          if (progress === 'none') {
            // A function onRollback may have closed the generator.
            observe(this.#judged)
            verdict = verdict.otherwise
          }
        }
        if (verdict.do === 'throw') throw policyError(this.#judged, situation, seen.nowMs, verdict.retryAfterMs, action)
        if (verdict.do === 'wait') {
          if (waits.forClock({ ...verdict, situation })) continue
          return 'later'
        }
        if (verdict.do === 'grant') {
          if (situation.kind === 'rollback') this.#ledByRollback = true
          progress = task.proceed(permitted(core, { nowTick, limitTick: verdict.limitTick }))
        }
      }
      if (progress === 'done') return 'done'
      if (!waits.mayBlock) return 'again'
    }
  }

  #actionFor(situation: Situation, seen: Observation): RollbackAction | OverflowAction {
    const { onRollback, onOverflow } = this.#judged.policy
    // The clock has not stepped back, and the ids are as far ahead as another host's clock.
    if (situation.kind === 'observed') return onRollback === 'wait' ? 'wait' : 'advance'
    if (situation.kind === 'overflow') {
      // After a rollback the clock is back, but still behind the ids that `advance` has made meanwhile.
      // Judged as an overflow, the call would wait for up to maxAheadMs.
      if (seen.lastTick <= seen.nowTick) this.#ledByRollback = false
      return this.#ledByRollback ? 'advance' : onOverflow
    }
    if (typeof onRollback === 'string') return onRollback
    const action = onRollback(this.#event(situation, seen.nowMs) as RollbackEvent)
    if (rollbackActions.includes(action)) return action
    throw typeError(
      'ERR_OPTION_INVALID',
      `the function onRollback returned ${show(action)}; return one of ${rollbackActions.map(show).join(', ')}`,
      'onRollback',
    )
  }

  #count(situation: Situation, seen: Observation): void {
    const { counters } = this.#judged
    if (situation.kind === 'rollback') {
      if (seen.highTick === this.#countedHighTick) return
      this.#countedHighTick = seen.highTick
      counters.rollbacks++
    } else if (situation.kind === 'overflow') {
      if (seen.headTick === this.#countedHeadTick) return
      this.#countedHeadTick = seen.headTick
      counters.overflows++
    } else {
      return
    }
    publish(situation.kind, this.#event(situation, seen.nowMs) as AheadEvent)
  }

  #event({ kind, rollbackMs, aheadMs }: Situation, nowMs: number): Omit<AheadEvent, 'type'> & { type: typeof kind } {
    const { layout, namespace, source } = this.#judged.subject
    return { type: kind, layout: layout.name, namespace, node: source.node, nowMs, rollbackMs, aheadMs }
  }
}

/** The ids of a core that a policy allows. */
function permitted(core: Core, permit: Permit): Pick<ReadyNumbers, 'takeOne' | 'fill'> {
  return {
    takeOne: () => core.grant(permit),
    fill: (array, from, to) => core.fill(array, from, to, permit),
  }
}
