import { repetitions } from '../support/short.ts'
import { proveThreads } from './workers.js'

proveThreads({
  each: repetitions(1_000_000, 300_000),
  terminations: repetitions(6, 3),
  rounds: repetitions(25, 10),
})
