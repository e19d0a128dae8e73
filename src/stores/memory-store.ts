import { platform } from '#platform'
import { type Rows, readTable } from '../core/options.js'
import { flag } from '../core/readers.js'
import { newVersion } from './record.js'
import type { Store, StoreEntry } from './store.js'

/** The options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * Asserts that no other process makes ids of the namespace or numbers of the name, neither now nor after a
   * restart. Without it, the first write of a process warns, except in a process of a test runner.
   *
   * @default false
   */
  assumeOneProcess?: boolean
}

const rows = { assumeOneProcess: { read: flag, byDefault: false } } satisfies Rows<MemoryStoreOptions>

/**
 * A store in the memory of this thread, for tests and for programs of one process. It counts as durable,
 * because all its users end with the thread.
 *
 * Another process has a store of its own, and gets the same nodes and numbers. So the first write warns
 * (`GRAUPEL_MEMORY_STORE`), once in a process.
 *
 * @param options - None is required; {@link MemoryStoreOptions} describes all.
 * @throws TypeError `ERR_OPTION_INVALID`, `ERR_OPTION_UNKNOWN`
 * @example
 * const store = memoryStore({ assumeOneProcess: true })
 * await store.read('leases/orders/1') // undefined
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { assumeOneProcess } = readTable(options, rows, '{ assumeOneProcess: true }')
  const entries = new Map<string, StoreEntry>()
  const numbers = new Map<string, bigint>()
  const isIn = (folder: string) => (key: string) => key.startsWith(folder) && !key.includes('/', folder.length)
  const warn = () => {
    if (!assumeOneProcess) platform.warnOnce(warning, 'GRAUPEL_MEMORY_STORE')
  }
  return {
    name: 'memory',
    durable: true,
    async read(key, signal) {
      signal?.throwIfAborted()
      return entries.get(key)
    },
    async list(folder, signal) {
      signal?.throwIfAborted()
      return [...entries.values()].filter(({ key }) => isIn(folder)(key))
    },
    async write(key, value, expected, signal) {
      signal?.throwIfAborted()
      if (entries.get(key)?.version !== expected) return undefined
      warn()
      const version = newVersion()
      entries.set(key, { key, value, version })
      return version
    },
    async remove(key, expected, signal) {
      signal?.throwIfAborted()
      return entries.get(key)?.version === expected && entries.delete(key)
    },
    async nowMs(signal) {
      signal?.throwIfAborted()
      return platform.wallMs()
    },
    async add(key, count, signal) {
      signal?.throwIfAborted()
      warn()
      const sum = (numbers.get(key) ?? 0n) + count
      numbers.set(key, sum)
      return sum
    },
  }
}

const warning =
  'memoryStore() keeps its records in one process, and other processes get the same nodes and numbers, also after a restart; pass a store that all processes reach (docs/leases.md), or memoryStore({ assumeOneProcess: true }) if no other process makes any'
