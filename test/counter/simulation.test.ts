import { it } from 'vitest'
import { expectNoViolation } from './simulation/runs.ts'

const file = 'test/counter/simulation.test.ts'

it('numbers have no gap and no repeat, whatever is lost, late or crashes', () =>
  expectNoViolation(file, 'numbers have no gap', 100, true))

it('a process never gives a number twice, even if the store forgets acknowledged writes', () =>
  expectNoViolation(file, 'a process never gives a number twice', 100, false))
