import { it } from 'vitest'
import { repetitions } from '../support/short.ts'
import { expectNoViolation } from './simulation/runs.ts'

// The half of the worlds in which there is most to find; simulation-durable.long.test.ts is the other one,
// for the other core.
const name = 'no id is issued twice on a store that may lose writes'

it(name, { timeout: 0 }, () =>
  expectNoViolation('--mode long test/lease/simulation.long.test.ts', name, repetitions(15_000, 1000), {
    durable: false,
  }),
)
