import { tell } from '../../simulation/report.ts'
import type { Outcome } from './world.ts'

/** Reports the violation of a world of segments. */
export function reportOf(seed: number, replay: string, { violation, shape, moments }: Outcome): string {
  const { processes, threads, durable, numbering } = shape
  const { start, max, stride, offset, step, maxStep, failoverGap } = numbering
  const world = `${processes} processes of ${threads} threads, ${durable ? 'a durable store' : 'a store that may lose writes'}; numbers ${start} to ${max} in steps of ${stride} from ${offset}, ${step} to ${maxStep} at once, a gap of ${failoverGap}`
  return tell(seed, replay, violation, world, moments)
}
