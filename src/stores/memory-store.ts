import { platform } from '#platform'
import { newVersion } from './record.js'
import type { Store, StoreEntry } from './store.js'

/**
 * A store in the memory of this thread, for tests and for programs of one thread. It counts as durable,
 * because all its users end with the thread.
 *
 * @example
 * const store = memoryStore()
 * await store.read('leases/orders/1') // undefined
 */
export function memoryStore(): Store {
  const entries = new Map<string, StoreEntry>()
  const numbers = new Map<string, bigint>()
  const isIn = (folder: string) => (key: string) => key.startsWith(folder) && !key.includes('/', folder.length)
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
      const version = newVersion()
      entries.set(key, { key, value, version })
      return version
    },
    async nowMs(signal) {
      signal?.throwIfAborted()
      return platform.wallMs()
    },
    async add(key, count, signal) {
      signal?.throwIfAborted()
      const sum = (numbers.get(key) ?? 0n) + count
      numbers.set(key, sum)
      return sum
    },
  }
}
