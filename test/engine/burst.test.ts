import { proveBursts } from './bursts.js'

proveBursts(1_000_000)
