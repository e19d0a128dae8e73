import { expectNoViolationIn } from '../../simulation/runs.ts'
import { loadWorld } from './load.ts'
import { reportOf } from './report.ts'
import type { Setting } from './shape.ts'
import type { Outcome } from './world.ts'

/** Runs worlds of segments, and fails at the first violation. */
export async function expectNoViolation(file: string, name: string, runs: number, setting: Setting): Promise<void> {
  const runWorld = await loadWorld()
  const worlds = {
    run: (seed: number, isRecorded: boolean) => runWorld(seed, setting, isRecorded),
    counts: ({ issued, writes }: Outcome) => ({ issued, writes }),
    least: { issued: 3, writes: 2 },
    report: reportOf,
  }
  await expectNoViolationIn(worlds, file, name, runs)
}
