import { proveStops } from './stops.ts'

proveStops({ stops: 100, longMs: 10_000 })
