import { proveBursts } from './bursts.js'

proveBursts(10_000_000)
