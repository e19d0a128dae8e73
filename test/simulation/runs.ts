import { expect } from 'vitest'

/** Runs the world of a seed, and tells what went wrong; recorded: all that happened in it. */
export interface Worlds<O extends { readonly violation: unknown }> {
  run(seed: number, isRecorded: boolean): Promise<O>
  /** Counts what has happened in a world, for people and for a lower bound: worlds in which nothing happens prove nothing. */
  counts(outcome: O): Readonly<Record<string, number>>
  /** How many of each there have to be in a world, on the average. */
  readonly least: Readonly<Record<string, number>>
  report(seed: number, replay: string, outcome: O): string
}

/**
 * Runs worlds, and fails with the first that goes wrong. GRAUPEL_SEED in the environment is the first seed, and GRAUPEL_RUNS how
 * many there are.
 *
 * @param file - Of the test, for the command that runs a world again.
 */
export async function expectNoViolationIn<O extends { readonly violation: unknown }>(
  worlds: Worlds<O>,
  file: string,
  name: string,
  usualRuns: number,
): Promise<void> {
  const runs = Number(process.env['GRAUPEL_RUNS'] ?? usualRuns)
  const first = Number(process.env['GRAUPEL_SEED'] ?? Math.floor(Math.random() * 1e9))
  console.info(`${name}: ${runs} worlds from GRAUPEL_SEED=${first}`)
  const sums: Record<string, number> = {}
  for (let seed = first; seed < first + runs; seed++) {
    const outcome = await worlds.run(seed, false)
    if (outcome.violation !== undefined) {
      expect.fail(worlds.report(seed, `npx vitest run ${file} -t '${name}'`, await worlds.run(seed, true)))
    }
    for (const [what, count] of Object.entries(worlds.counts(outcome))) sums[what] = (sums[what] ?? 0) + count
    // What else runs in this process, such as the reporter, has its turn now and then.
    if (seed % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  console.info(`${name}: ${JSON.stringify(sums)}`)
  for (const [what, least] of Object.entries(worlds.least)) expect(sums[what]).toBeGreaterThan(least * runs)
}
