// The shipped code of one process of a world. Each process has a copy of all modules, and of their memory.
export { raiseGeneration } from '../../../src/engine/generation.js'
export { createGenerator } from '../../../src/generator/create.js'
export { defineLayout } from '../../../src/layout/index.js'
export { acquireLease, type Lease } from '../../../src/lease/lease.js'
