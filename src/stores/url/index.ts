export { type OpenedStore, type OpenStoreOptions, openStore } from './open.js'
