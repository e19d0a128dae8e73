export { memoryStore } from './memory.js'
export type { SqlStore } from './sql.js'
export type { Store, StoreEntry, StoreOptions } from './store.js'
