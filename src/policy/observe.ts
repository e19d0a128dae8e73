import { platform } from '#platform'
import { GraupelError, showTime } from '../core/errors.js'
import { whole } from '../core/typed-array.js'
import { checkOrder, type GivenId, type Layout, loadId } from '../layout/index.js'
import { publish } from '../platform/events.js'
import { Status } from '../state/engine.js'
import type { Judged } from './policy.js'
import { observe } from './refusal.js'

/** Makes the call `observe` of a generator. @throws RangeError `ERR_LAYOUT_INVALID` */
export function observer(judged: Judged): (id: GivenId) => bigint {
  const { core, policy, subject, counters } = judged
  const { layout, source } = subject
  checkOrder(layout)
  const { timestamp } = layout
  // Kept, because looking the channel up takes longer than the call.
  const channel = platform.channel('graupel:observed')
  const aheadTicks = Math.floor(policy.maxAheadMs / layout.tickMs)
  return (given) => {
    loadId(given, layout)
    const id = typeof given === 'bigint' ? given : (whole[0] as bigint)
    let status = core.exceed(id, aheadTicks)
    if (status !== Status.ok && status !== Status.raised && status !== Status.ahead && status !== Status.expired) {
      // Throws, unless the state can be reached again.
      observe(judged)
      status = core.exceed(id, aheadTicks)
    }
    if (status === Status.raised) counters.raised++
    if (status !== Status.ok && (status !== Status.raised || channel?.hasSubscribers)) finish(judged, id, status)
    counters.observed++
    if (source.observed?.(Number(id >> BigInt(timestamp.shift)))) core.exceed(id, aheadTicks)
    return id
  }
}

/** Publishes that an id is ahead of the clock, and throws if it was refused. */
function finish(judged: Judged, id: bigint, status: number): void {
  const { core, counters, policy, subject } = judged
  const { layout, namespace, source } = subject
  // An id that was raised counts, whatever became of the node.
  const { nowMs } = status === Status.raised ? core.observe() : observe(judged)
  if (status === Status.expired) {
    throw new GraupelError(
      'ERR_LAYOUT_EXPIRED',
      `node ${source.node} has no id above ${id}: layout '${layout.name}' ends on ${layout.expiresAt.toISOString()}; check where the id comes from`,
    )
  }
  const timeMs = layout.epochMs + Number(id >> BigInt(layout.timestamp.shift)) * layout.tickMs
  const aheadMs = timeMs - nowMs
  const event = { layout: layout.name, namespace, node: source.node, nowMs, id, aheadMs }
  if (status === Status.raised) {
    if (aheadMs > 0) publish('observed', { type: 'ahead', ...event })
    return
  }
  counters.refused++
  publish('observed', { type: 'refused', ...event })
  throw new GraupelError(
    'ERR_CLOCK_SKEW',
    `the id ${id} of node ${nodeOf(id, layout)} has the time ${showTime(timeMs)}, ${aheadMs} ms after ${showTime(nowMs)}, and maxAheadMs (${policy.maxAheadMs}) allows no more; compare the clocks of the hosts, and observe only ids that you trust`,
    { retryAfterMs: Math.max(1, aheadMs - policy.maxAheadMs), option: 'maxAheadMs' },
  )
}

function nodeOf(id: bigint, { nodeFields }: Layout): number {
  return nodeFields.reduce(
    (node, { bits, shift }) => node * 2 ** bits + Number(BigInt.asUintN(bits, id >> BigInt(shift))),
    0,
  )
}
