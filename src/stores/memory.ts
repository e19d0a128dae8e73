// An entry that another module imports would export the whole core, because its code would be in
// `dist/core.js`.
export { memoryStore } from './memory-store.js'
