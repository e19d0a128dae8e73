import { repetitions } from '../support/short.ts'
import { proveStops } from './stops.ts'

proveStops({ stops: repetitions(100, 10), longMs: repetitions(10_000, 2000) })
