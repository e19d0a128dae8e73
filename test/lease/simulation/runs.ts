import { expect } from 'vitest'
import { loadWorld } from './load.ts'
import { reportOf } from './report.ts'
import type { Setting } from './shape.ts'

/**
 * Runs worlds, and fails with the first that goes wrong. GRAUPEL_SEED in the environment is the first seed, and GRAUPEL_RUNS how
 * many there are.
 *
 * @param file - Of the test, for the command that runs a world again.
 */
export async function expectNoViolation(
  file: string,
  name: string,
  usualRuns: number,
  setting: Setting,
): Promise<void> {
  const runs = Number(process.env['GRAUPEL_RUNS'] ?? usualRuns)
  const first = Number(process.env['GRAUPEL_SEED'] ?? Math.floor(Math.random() * 1e9))
  console.info(`${name}: ${runs} worlds from GRAUPEL_SEED=${first}`)
  const runWorld = await loadWorld()
  let [acquired, issued] = [0, 0]
  for (let seed = first; seed < first + runs; seed++) {
    const outcome = await runWorld(seed, setting)
    if (outcome.violation !== undefined) {
      expect.fail(reportOf(seed, `npx vitest run ${file} -t '${name}'`, await runWorld(seed, setting, true)))
    }
    acquired += outcome.acquired
    issued += outcome.issued
    // What else runs in this process, such as the reporter, has its turn now and then.
    if (seed % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  console.info(`${name}: ${acquired} nodes acquired, ${issued} ids issued`)
  // Worlds in which nothing happens prove nothing.
  expect(acquired).toBeGreaterThan(runs)
  expect(issued).toBeGreaterThan(10 * runs)
}
