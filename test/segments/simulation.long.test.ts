import { describe, it } from 'vitest'
import { chosenOf, expectNoticed } from '../simulation/noticed.ts'
import { repetitions } from '../support/short.ts'
import { loadWorld } from './simulation/load.ts'
import { mutations } from './simulation/mutations.ts'
import { reportOf } from './simulation/report.ts'
import { expectNoViolation } from './simulation/runs.ts'

const file = '--mode long test/segments/simulation.long.test.ts'

describe('no number is issued twice, in many worlds', () => {
  it('on a durable store', { timeout: 0 }, () =>
    expectNoViolation(file, 'on a durable store', repetitions(600, 200), { durable: true }),
  )

  it('on a store that may lose writes', { timeout: 0 }, () =>
    expectNoViolation(file, 'on a store that may lose writes', repetitions(1200, 200), { durable: false }),
  )
})

// Each of these tests puts a defect into the source and expects a violation. The shipped source has no
// violation in the same world.

describe('the simulation', async () => {
  const original = await loadWorld()
  for (const mutation of chosenOf(mutations)) {
    const { defect, seed: _, ...setting } = mutation
    it(`notices that ${defect}`, async () => {
      const mutant = await loadWorld(mutation)
      await expectNoticed(mutation, {
        mutant: (seed) => mutant(seed, setting),
        original: (seed, isRecorded) => original(seed, setting, isRecorded),
        report: (seed, outcome) => reportOf(seed, 'without the defect', outcome),
        maxRuns: repetitions(5000, 500),
      })
    })
  }
})
