import { type Moment, tell } from '../../simulation/report.ts'
import type { Outcome } from './world.ts'

/** Reports why a world of leases went wrong. */
export function reportOf(seed: number, replay: string, { violation, shape, moments }: Outcome): string {
  const { processes, nodes, durable, tickMs, windowMs, maxClockSkewMs, clockMs } = shape
  const world = `${processes} processes, ${nodes} nodes, ${durable ? 'a durable store' : 'a store that may lose writes'}; ticks of ${tickMs} ms, windows of ${windowMs} ms, clocks within ${maxClockSkewMs} ms, the store's in steps of ${clockMs} ms`
  return tell(seed, replay, violation?.text, world, momentsOf(moments, violation?.node, violation?.processes ?? []))
}

/** The events of a node, of the processes concerned, and of the server. Ids in a row are one event. */
function momentsOf(moments: readonly Moment[], node: number | undefined, processes: readonly number[]): Moment[] {
  const concerns = moments.filter(
    (moment) =>
      moment.process === undefined ||
      (processes.includes(moment.process) && (node === undefined || (moment.node ?? node) === node)) ||
      (node !== undefined && moment.node === node),
  )
  return concerns.filter((moment, i) => {
    const next = concerns[i + 1]
    return !(isIssue(moment) && next && isIssue(next) && next.process === moment.process)
  })
}

function isIssue({ text }: Moment): boolean {
  return text.startsWith('issues')
}
