import type { Moment, Outcome } from './world.ts'

/** As many lines fit one screen beside what is above them. */
const maxMoments = 40

/** Why a world went wrong: what happened, how to see it again, and what led to it. */
export function reportOf(seed: number, replay: string, { violation, shape, moments }: Outcome): string {
  const { processes, threads, durable, numbering } = shape
  const { start, max, stride, offset, step, maxStep, failoverGap } = numbering
  return [
    `seed ${seed}: ${violation}`,
    `again: GRAUPEL_SEED=${seed} GRAUPEL_RUNS=1 ${replay}`,
    `${processes} processes of ${threads} threads, ${durable ? 'a durable store' : 'a store that may lose writes'}; numbers ${start} to ${max} in steps of ${stride} from ${offset}, ${step} to ${maxStep} at once, a gap of ${failoverGap}`,
    '',
    ...moments.slice(-maxMoments).map(lineOf),
  ].join('\n')
}

function lineOf({ atMs, process, text }: Moment): string {
  const who = process === undefined ? 'the server' : `process ${process}`
  return `${(atMs / 1000).toFixed(3).padStart(9)} s  ${who.padEnd(10)}  ${text}`
}
