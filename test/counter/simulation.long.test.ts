import { it } from 'vitest'
import { repetitions } from '../support/short.ts'
import { expectNoViolation } from './simulation/runs.ts'

const file = '--mode long test/counter/simulation.long.test.ts'

// The tests of simulation.test.ts, with more worlds.

it('numbers have no gap and no repeat in many worlds', { timeout: 0 }, () =>
  expectNoViolation(file, 'numbers have no gap', repetitions(600, 50), true),
)

it('a process never gives a number twice in many worlds', { timeout: 0 }, () =>
  expectNoViolation(file, 'a process never gives a number twice', repetitions(200, 50), false),
)
