import { expect } from 'vitest'
import { firstOfEachFile } from '../support/defects.ts'
import { isShort } from '../support/short.ts'
import type { Mutation } from './load.ts'

/** A defect, and the seed of a world in which it was found. */
export interface Known extends Mutation {
  readonly seed?: number
}

/** The defects that a run puts into the source; the short form has one of each file. */
export const chosenOf = <M extends Mutation>(mutations: readonly M[]): readonly M[] =>
  isShort ? firstOfEachFile(mutations) : mutations

interface Search<O> {
  mutant(seed: number): Promise<O>
  /** Runs the same world with the source as it is. */
  original(seed: number, isRecorded: boolean): Promise<O>
  report(seed: number, outcome: O): string
  readonly maxRuns: number
}

/**
 * Expects a violation in a world with the defect, and none in that world without it. The world in which the
 * defect was found runs first, and then others by their seeds: from GRAUPEL_SEED in the environment, or from
 * a random seed.
 */
export async function expectNoticed<O extends { readonly violation?: unknown }>(
  { defect, seed: known = 1 }: Known,
  { mutant, original, report, maxRuns }: Search<O>,
): Promise<void> {
  const first = Number(process.env['GRAUPEL_SEED'] ?? Math.floor(Math.random() * 1e9))
  for (let run = 0; run < maxRuns; run++) {
    const seed = run === 0 ? known : first + run - 1
    if ((await mutant(seed)).violation !== undefined) {
      if ((await original(seed, false)).violation !== undefined) {
        expect.fail(report(seed, await original(seed, true)))
      }
      if (run > 0) console.info(`${defect}: found in world ${run} from GRAUPEL_SEED=${first}, and not in ${known}`)
      return
    }
    // Gives other work in this process, such as the reporter, a turn now and then.
    if (run % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  expect.fail(`${defect}: not found in world ${known}, nor in ${maxRuns} worlds from GRAUPEL_SEED=${first}`)
}
