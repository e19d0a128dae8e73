import { describe, expect, it } from 'vitest'
import { chosenOf, expectNoticed } from '../simulation/noticed.ts'
import { repetitions } from '../support/short.ts'
import { loadProcess } from './programs-simulation/load.ts'
import { mutations as ofPrograms } from './programs-simulation/mutations.ts'
import { runWorld } from './programs-simulation/world.ts'
import { loadWorld } from './simulation/load.ts'
import { mutations } from './simulation/mutations.ts'
import { reportOf } from './simulation/report.ts'

// The simulation must notice when a step of the protocol is left out or changes places with another: each of
// these tests puts a defect into the source and expects a violation. In the world in which it shows, the
// source as it is has none.

describe('the simulation', () => {
  for (const mutation of chosenOf(mutations)) {
    const { defect, seed: _, ...setting } = mutation
    it(`notices that ${defect}`, async () => {
      const [mutant, original] = [await loadWorld(mutation), await loadWorld()]
      await expectNoticed(mutation, {
        mutant: (seed) => mutant(seed, setting),
        original: (seed, isRecorded) => original(seed, setting, isRecorded),
        report: (seed, outcome) => reportOf(seed, 'without the defect', outcome),
        maxRuns: repetitions(80_000, 2000),
      })
    })
  }
})

describe('the simulated programs', () => {
  it.each(chosenOf(ofPrograms))('notice that $defect', async (mutation) => {
    const { seed, ...setting } = mutation
    const [mutant, original] = [await loadProcess(mutation), await loadProcess()]
    expect((await runWorld(mutant, seed, setting)).violation).toBeDefined()
    expect((await runWorld(original, seed, setting)).violation).toBeUndefined()
  })
})
