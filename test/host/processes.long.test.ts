import { repetitions } from '../support/short.ts'
import { proveCrowd } from './crowd.ts'

proveCrowd({
  byThreads: repetitions(20_000_000, 1_600_000),
  byWorkers: repetitions(4_000_000, 400_000),
  kills: repetitions(60, 12),
})
