// An entry that another module imports would export the whole core, because its code would be in
// `dist/core.js`.
export { type MemoryStoreOptions, memoryStore } from './memory-store.js'
