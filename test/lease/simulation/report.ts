import type { Moment, Outcome } from './world.ts'

/** As many lines fit one screen beside what is above them. */
const maxMoments = 40

/** Why a world went wrong: what happened, how to see it again, and what led to it. */
export function reportOf(seed: number, replay: string, { violation, shape, moments }: Outcome): string {
  const concerns = momentsOf(moments, violation?.node, violation?.processes ?? [])
  const left = concerns.length - maxMoments
  const { processes, nodes, durable, tickMs, windowMs, maxClockSkewMs, clockMs } = shape
  return [
    `seed ${seed}: ${violation?.text}`,
    `again: GRAUPEL_SEED=${seed} GRAUPEL_RUNS=1 ${replay}`,
    `${processes} processes, ${nodes} nodes, ${durable ? 'a durable store' : 'a store that may lose writes'}; ticks of ${tickMs} ms, windows of ${windowMs} ms, clocks within ${maxClockSkewMs} ms, the store's in steps of ${clockMs} ms`,
    '',
    ...(left > 0 ? [`          … ${left} moments before`] : []),
    ...concerns.slice(-maxMoments).map(lineOf),
  ].join('\n')
}

/** What happened to a node, to those who are concerned, and to the server. Ids in a row are one moment. */
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

function lineOf({ atMs, process, node, text }: Moment): string {
  const who = process === undefined ? 'the server' : `process ${process}`
  const where = node === undefined ? '' : `node ${node}: `
  return `${(atMs / 1000).toFixed(3).padStart(9)} s  ${who.padEnd(10)}  ${where}${text}`
}
