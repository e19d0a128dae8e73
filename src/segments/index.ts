export { type Counter, type CounterOptions, type CounterStats, createCounter, type Reset } from '../counter/index.js'
