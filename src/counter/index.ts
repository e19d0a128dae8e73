export { type Counter, type CounterStats, createCounter } from './counter.js'
export type { CounterOptions } from './options.js'
export type { Reset } from './period.js'
