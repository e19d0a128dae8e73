import { proveCrowd } from './crowd.ts'

proveCrowd({ byThreads: 1_600_000, byWorkers: 400_000, kills: 12 })
