export { type MemoryStoreOptions, memoryStore } from './memory-store.js'
export type { SqlStore } from './sql.js'
export type { Store, StoreEntry, StoreOptions } from './store.js'
