import { it } from 'vitest'
import { repetitions } from '../support/short.ts'
import { expectNoViolation } from './simulation/runs.ts'

const name = 'no id is issued twice on a durable store'

it(name, { timeout: 0 }, () =>
  expectNoViolation('--mode long test/lease/simulation-durable.long.test.ts', name, repetitions(20_000, 1000), {
    durable: true,
  }),
)
