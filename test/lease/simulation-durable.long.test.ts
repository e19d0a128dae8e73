import { it } from 'vitest'
import { expectNoViolation } from './simulation/runs.ts'

const name = 'no id is issued twice on a durable store'

it(name, { timeout: 0 }, () =>
  expectNoViolation('--mode long test/lease/simulation-durable.long.test.ts', name, 20_000, { durable: true }),
)
