import { describe, expect, it } from 'vitest'
import { loadWorld } from './simulation/load.ts'
import { mutations } from './simulation/mutations.ts'
import { reportOf } from './simulation/report.ts'
import { expectNoViolation } from './simulation/runs.ts'

const file = '--mode long test/segments/simulation.long.test.ts'

describe('no number is issued twice, in many worlds', () => {
  it('on a durable store', { timeout: 0 }, () => expectNoViolation(file, 'on a durable store', 600, { durable: true }))

  it('on a store that may lose writes', { timeout: 0 }, () =>
    expectNoViolation(file, 'on a store that may lose writes', 1200, { durable: false }),
  )
})

// Each of these tests puts a defect into the source and expects a violation. The shipped source has no
// violation in the same world.
const maxRuns = 5000
const first = Number(process.env['GRAUPEL_SEED'] ?? 1)

describe('the simulation', async () => {
  const original = await loadWorld()
  for (const mutation of mutations) {
    const { defect, ...setting } = mutation
    it(`notices that ${defect}`, async () => {
      const mutant = await loadWorld(mutation)
      for (let seed = first; seed < first + maxRuns; seed++) {
        const { violation } = await mutant(seed, setting)
        if (violation !== undefined) {
          const { violation: own } = await original(seed, setting)
          if (own !== undefined) expect.fail(reportOf(seed, 'without the defect', await original(seed, setting, true)))
          console.info(
            `${defect}: found in world ${seed - first + 1} from GRAUPEL_SEED=${first}: ${violation.slice(0, 150)}`,
          )
          return
        }
        if (seed % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      expect.fail(`not found in ${maxRuns} worlds from GRAUPEL_SEED=${first}`)
    })
  }
})
