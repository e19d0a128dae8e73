export { type MemoryStoreOptions, memoryStore } from './memory-store.js'
export type { Store, StoreEntry, StoreOptions, TableStore } from './store.js'
