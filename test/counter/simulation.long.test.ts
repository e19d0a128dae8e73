import { it } from 'vitest'
import { expectNoViolation } from './simulation/runs.ts'

const file = '--mode long test/counter/simulation.long.test.ts'

// The tests of simulation.test.ts, with more worlds.

it('numbers have no gap and no repeat in six hundred worlds', { timeout: 0 }, () =>
  expectNoViolation(file, 'numbers have no gap', 600, true),
)

it('a process never gives a number twice in two hundred worlds', { timeout: 0 }, () =>
  expectNoViolation(file, 'a process never gives a number twice', 200, false),
)
