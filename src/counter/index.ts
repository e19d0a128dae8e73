export type { Counter, CounterStats } from './counter.js'
export { createCounter } from './create.js'
export type { CounterOptions } from './options.js'
export type { Reset } from './period.js'
