import { closedError, GraupelError, showTime } from '../core/errors.js'
import { beforeEpochError, expiredError } from '../layout/index.js'
import { type Observation, Status } from '../state/engine.js'
import type { Situation } from './judge.js'
import type { Judged } from './policy.js'

/** If the word is further ahead than this, a wrong clock led it there and not a policy. */
const implausibleMs = 3_600_000

/**
 * Observes the engine, and throws if no id can be made under any policy.
 *
 * @throws GraupelError `ERR_CLOSED`, `ERR_CLOCK_BEFORE_EPOCH`, `ERR_LAYOUT_EXPIRED`; the engine's failure if
 * the state was lost
 */
export function observe({ core, subject }: Judged): Observation {
  const { layout, source } = subject
  const seen = core.observe()
  if (seen.status === Status.closed) throw closedError(`the generator of node ${source.node}`)
  if (seen.status === Status.beforeEpoch) throw beforeEpochError(layout, seen.nowMs)
  if (seen.status === Status.expired) throw expiredError(layout, seen.nowMs)
  if (seen.status === Status.unavailable) throw core.report().failure
  // A lease acquires another node; nobody else can say which node the copy may have.
  if (seen.status === Status.cloned && source.kind === 'given') {
    throw new GraupelError(
      'ERR_STATE_CLONED',
      `this machine was copied since the generator of node ${source.node} was made, and another copy may have the node; make a generator with a node that no other machine has, or lease a node (docs/leases.md)`,
    )
  }
  return seen
}

/** Makes the error of a verdict `throw`. @param action - The action of the policy that led to the verdict. */
export function policyError(
  judged: Judged,
  situation: Situation,
  nowMs: number,
  retryAfterMs: number,
  action: string,
): GraupelError {
  if (action === 'throw') {
    const option = situation.kind === 'rollback' ? 'onRollback' : 'onOverflow'
    return aheadError(judged, situation, nowMs, retryAfterMs, `${option} is 'throw'`, option)
  }
  const rule = `'${action}' would have to wait longer than maxWaitMs (${judged.policy.maxWaitMs})`
  return aheadError(judged, situation, nowMs, retryAfterMs, rule, 'maxWaitMs')
}

/** Makes the error of a wait during which the clock stood still, or stepped back again and again. */
export function clockError(judged: Judged, situation: Situation, nowMs: number, retryAfterMs: number): GraupelError {
  return aheadError(judged, situation, nowMs, retryAfterMs, 'the clock stood still during the wait')
}

function aheadError(
  { core, subject }: Judged,
  { kind, rollbackMs, aheadMs }: Situation,
  nowMs: number,
  retryAfterMs: number,
  rule: string,
  option?: string,
): GraupelError {
  const { layout, path, source } = subject
  const { node } = source
  const details = { retryAfterMs, ...(option !== undefined && { option }) }
  if (kind === 'overflow') {
    return new GraupelError(
      'ERR_SEQUENCE_OVERFLOW',
      `node ${node} has issued all ${2 ** layout.sequence.bits} ids of every tick up to ${aheadMs} ms after ${showTime(nowMs)}, and ${rule}; try again in ${retryAfterMs} ms, or choose a layout with a wider sequence`,
      details,
    )
  }
  if (kind === 'observed') {
    return new GraupelError(
      'ERR_CLOCK_SKEW',
      `node ${node} has observed an id of ${showTime(nowMs + aheadMs)}, ${aheadMs} ms after ${showTime(nowMs)}, and ${rule}; try again in ${retryAfterMs} ms, and compare the clocks of the hosts`,
      details,
    )
  }
  const page = aheadMs < implausibleMs ? undefined : core.report().path
  const file = path === '' ? '' : `, and delete ${path}`
  const text =
    page === undefined
      ? `the clock stepped back by ${rollbackMs} ms to ${showTime(nowMs)}, node ${node} has issued ids up to ${aheadMs} ms later, and ${rule}; try again in ${retryAfterMs} ms`
      : `the clock shows ${showTime(nowMs)}, and node ${node} has issued ids of ${showTime(nowMs + aheadMs)}, and ${rule}; if a wrong clock made those ids and none was kept, stop the processes of this node, and run 'npx graupel state --clean ${page}'${file}`
  return new GraupelError('ERR_CLOCK_ROLLBACK', text, { ...details, rollbackMs })
}
