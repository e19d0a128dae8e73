import { proveThreads } from './workers.js'

proveThreads({ each: 1_000_000, terminations: 6, rounds: 25 })
