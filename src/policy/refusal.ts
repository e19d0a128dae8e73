import { closedError, type ErrorDetails, GraupelError, showTime } from '../core/errors.js'
import { type Core, type Observation, Status } from '../engine/engine.js'
import { expiredError } from '../layout/index.js'
import type { Situation } from './judge.js'
import type { Policy } from './policy.js'
import type { Subject } from './subject.js'

/** A word that is ahead by more than this was not led there by a policy, but by a clock that was wrong. */
const implausibleMs = 3_600_000

/** The refusals of one generator: the errors of calls that the policy does not let go on. */
export class Refusals {
  readonly #core: Core
  readonly #policy: Policy
  readonly #subject: Subject

  constructor(core: Core, policy: Policy, subject: Subject) {
    this.#core = core
    this.#policy = policy
    this.#subject = subject
  }

  /**
   * Observes the engine, and refuses what no policy decides.
   *
   * @throws GraupelError `ERR_CLOSED`, `ERR_CLOCK_BEFORE_EPOCH`, `ERR_LAYOUT_EXPIRED`; the engine's failure where the state was lost
   */
  observe(): Observation {
    const { layout, source } = this.#subject
    const seen = this.#core.observe()
    if (seen.status === Status.closed) throw closedError(`the generator of node ${source.node}`)
    if (seen.status === Status.beforeEpoch) {
      throw new GraupelError(
        'ERR_CLOCK_BEFORE_EPOCH',
        `the clock shows ${showTime(seen.nowMs)}, before the epoch of layout '${layout.name}', ${showTime(layout.epochMs)}; set the clock, or choose an earlier epoch`,
      )
    }
    if (seen.status === Status.expired) throw expiredError(layout, seen.nowMs)
    if (seen.status === Status.unavailable) throw this.#core.failure()
    return seen
  }

  /** For a verdict `throw`. @param action - The policy that led to it. */
  ofPolicy(situation: Situation, nowMs: number, retryAfterMs: number, action: string): GraupelError {
    const rule =
      action === 'throw'
        ? "the policy is 'throw'"
        : `policy '${action}' would have to wait ${retryAfterMs} ms, and maxWaitMs is ${this.#policy.maxWaitMs}`
    const policyOption = situation.kind === 'rollback' ? 'onRollback' : 'onOverflow'
    const option = action === 'throw' ? policyOption : 'maxWaitMs'
    return this.#make(situation, nowMs, { retryAfterMs, option }, rule)
  }

  /** For a wait during which the clock stood still, or went to and fro. */
  ofClock(situation: Situation, nowMs: number, retryAfterMs: number): GraupelError {
    return this.#make(situation, nowMs, { retryAfterMs }, 'the policy waited, but the clock stood still')
  }

  #make(situation: Situation, nowMs: number, details: ErrorDetails, rule: string): GraupelError {
    const { layout, source } = this.#subject
    const { node } = source
    const { kind, rollbackMs, aheadMs } = situation
    const { retryAfterMs } = details
    if (kind === 'rollback') {
      return new GraupelError(
        'ERR_CLOCK_ROLLBACK',
        `the clock stepped back by ${rollbackMs} ms to ${showTime(nowMs)}, and node ${node} has issued ids up to ${aheadMs} ms later; ${rule}: try again in ${retryAfterMs} ms${this.#wayOut(aheadMs)}`,
        { ...details, rollbackMs },
      )
    }
    return new GraupelError(
      'ERR_SEQUENCE_OVERFLOW',
      `node ${node} has issued all ${2 ** layout.sequence.bits} ids of every tick up to ${aheadMs} ms from ${showTime(nowMs)}; ${rule}: try again in ${retryAfterMs} ms, or choose a layout with a wider sequence`,
      details,
    )
  }

  /** What to do about ids that a wrong clock has made, where they outlive the process. */
  #wayOut(aheadMs: number): string {
    const memory = this.#core.statePath()
    if (aheadMs < implausibleMs || memory === undefined) return ''
    const { path } = this.#subject
    const forgotten = path === '' ? '' : `, which has to be followed by deleting ${path}`
    return `. A clock that was wrong has made ids of ${showTime(this.#core.observe().nowMs + aheadMs)}, which ${memory} remembers: if none of them was kept, stop the processes that use this node, and forget them with 'npx graupel state --clean ${memory}'${forgotten}; else use another node`
  }
}
