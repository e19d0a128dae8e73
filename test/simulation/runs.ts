import { expect } from 'vitest'

const isDrawn = ['all', 'long'].includes(process.env['MODE'] ?? '')

/** Runs the world of a seed, and returns what went wrong; if it is recorded, all its events. */
export interface Worlds<O extends { readonly violation: unknown }> {
  run(seed: number, isRecorded: boolean): Promise<O>
  /**
   * Counts the events of a world, for people and for a lower bound: a world without events proves nothing.
   */
  counts(outcome: O): Readonly<Record<string, number>>
  /** The lower bounds: the mean number of each event in a world. */
  readonly least: Readonly<Record<string, number>>
  report(seed: number, replay: string, outcome: O): string
}

/**
 * Runs worlds, and fails with the first that goes wrong. GRAUPEL_SEED in the environment is the first seed,
 * and GRAUPEL_RUNS how many there are. The quick suite and the gate run the same worlds each time, so that no
 * change waits for a defect of another; all tests (`npm run test:all`) run worlds that are drawn.
 *
 * @param file - The file of the test, for the command that runs a world again.
 */
export async function expectNoViolationIn<O extends { readonly violation: unknown }>(
  worlds: Worlds<O>,
  file: string,
  name: string,
  usualRuns: number,
): Promise<void> {
  const runs = Number(process.env['GRAUPEL_RUNS'] ?? usualRuns)
  const first = Number(process.env['GRAUPEL_SEED'] ?? (isDrawn ? Math.floor(Math.random() * 1e9) : 1))
  console.info(`${name}: ${runs} worlds from GRAUPEL_SEED=${first}`)
  const sums: Record<string, number> = {}
  for (let seed = first; seed < first + runs; seed++) {
    const outcome = await worlds.run(seed, false)
    if (outcome.violation !== undefined) {
      expect.fail(worlds.report(seed, `npx vitest run ${file} -t '${name}'`, await worlds.run(seed, true)))
    }
    for (const [what, count] of Object.entries(worlds.counts(outcome))) sums[what] = (sums[what] ?? 0) + count
    // Gives other work in this process, such as the reporter, a turn now and then.
    if (seed % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  console.info(`${name}: ${JSON.stringify(sums)}`)
  for (const [what, least] of Object.entries(worlds.least)) expect(sums[what]).toBeGreaterThan(least * runs)
}
