export { memoryStore } from './memory.js'
export type { Store, StoreEntry, StoreOptions } from './store.js'
