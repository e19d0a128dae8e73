import { proveCrowd } from './crowd.ts'

proveCrowd({ byThreads: 400_000, byWorkers: 100_000, kills: 4 })
