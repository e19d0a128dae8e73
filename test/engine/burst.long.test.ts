import { repetitions } from '../support/short.ts'
import { proveBursts } from './bursts.js'

proveBursts(repetitions(10_000_000, 4_000_000))
