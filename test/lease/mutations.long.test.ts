import { describe, expect, it } from 'vitest'
import { loadProcess } from './programs-simulation/load.ts'
import { mutations as ofPrograms } from './programs-simulation/mutations.ts'
import { runWorld } from './programs-simulation/world.ts'
import { loadWorld } from './simulation/load.ts'
import { mutations } from './simulation/mutations.ts'
import { reportOf } from './simulation/report.ts'

// The simulation must notice when a step of the protocol is left out or changes places with another: each of
// these tests puts a defect into the source and expects a violation. In the world in which it shows, the
// source as it is has none.

const maxRuns = 80_000
const first = Number(process.env['GRAUPEL_SEED'] ?? 1)

describe('the simulation', () => {
  for (const mutation of mutations) {
    const { defect, ...setting } = mutation
    it(`notices that ${defect}`, async () => {
      const [mutant, original] = [await loadWorld(mutation), await loadWorld()]
      for (let seed = first; seed < first + maxRuns; seed++) {
        const { violation } = await mutant(seed, setting)
        if (violation !== undefined) {
          const { violation: own } = await original(seed, setting)
          if (own !== undefined) expect.fail(reportOf(seed, 'without the defect', await original(seed, setting, true)))
          console.info(`${defect}: found in world ${seed - first + 1} from GRAUPEL_SEED=${first}: ${violation.text}`)
          return
        }
        if (seed % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      expect.fail(`not found in ${maxRuns} worlds from GRAUPEL_SEED=${first}`)
    })
  }
})

describe('the simulated programs', () => {
  it.each(ofPrograms)('notice that $defect', async (mutation) => {
    const { seed, ...setting } = mutation
    const [mutant, original] = [await loadProcess(mutation), await loadProcess()]
    expect((await runWorld(mutant, seed, setting)).violation).toBeDefined()
    expect((await runWorld(original, seed, setting)).violation).toBeUndefined()
  })
})
