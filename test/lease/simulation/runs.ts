import { expectNoViolationIn } from '../../simulation/runs.ts'
import { loadWorld } from './load.ts'
import { reportOf } from './report.ts'
import type { Setting } from './shape.ts'
import type { Outcome } from './world.ts'

/** Runs worlds of leases, and fails with the first that goes wrong. */
export async function expectNoViolation(file: string, name: string, runs: number, setting: Setting): Promise<void> {
  const runWorld = await loadWorld()
  const worlds = {
    run: (seed: number, isRecorded: boolean) => runWorld(seed, setting, isRecorded),
    counts: ({ acquired, issued }: Outcome) => ({ acquired, issued }),
    least: { acquired: 1, issued: 10 },
    report: reportOf,
  }
  await expectNoViolationIn(worlds, file, name, runs)
}
