import { proveCrowd } from './crowd.ts'

proveCrowd({ byThreads: 20_000_000, byWorkers: 4_000_000, kills: 60 })
