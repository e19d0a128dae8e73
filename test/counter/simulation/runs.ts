import { tell } from '../../simulation/report.ts'
import { expectNoViolationIn } from '../../simulation/runs.ts'
import { type Outcome, runWorld } from './world.ts'

/** Runs worlds of counters, and fails at the first violation. */
export function expectNoViolation(file: string, name: string, runs: number, durable: boolean): Promise<void> {
  const worlds = {
    run: (seed: number, isRecorded: boolean) => runWorld(seed, durable, isRecorded),
    counts: ({ issued, periods, crashes, lost, recovered, conflicts }: Outcome) => {
      return { issued, periods, crashes, lost, recovered, conflicts }
    },
    least: durable
      ? { issued: 10, periods: 1, crashes: 0.1, lost: 0, conflicts: 0.1 }
      : { issued: 10, periods: 1, recovered: 0.1 },
    report: reportOf,
  }
  return expectNoViolationIn(worlds, file, name, runs)
}

function reportOf(seed: number, replay: string, { violation, shape, moments }: Outcome): string {
  const { processes, callersEach, durable, reset, timeZone, start } = shape
  const world = `${processes} processes of ${callersEach} callers, ${durable ? 'a durable store' : 'a store that may lose writes'}; reset ${reset} at ${timeZone}, from ${start}`
  return tell(seed, replay, violation, world, moments)
}
