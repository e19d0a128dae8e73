import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory.js'
import type { Store } from '../../src/stores/store.js'
import { storeContract } from '../../src/stores/testing.js'

describe('the store in memory', () => {
  const store = memoryStore()
  for (const { name, run } of storeContract(async () => store)) it(name, run)
})

describe('the contract of stores', () => {
  /** Mistakes that a user's store can have, and how many rules each mistake breaks at least. */
  const defects: [string, (store: Store) => Partial<Store>][] = [
    ['writes over any version', (store) => ({ write: async (key, value) => overwrite(store, key, value) })],
    [
      'creates over what is there',
      (store) => ({
        write: async (key, value, expected) =>
          expected === undefined ? overwrite(store, key, value) : store.write(key, value, expected),
      }),
    ],
    [
      'returns a version though it has not written',
      (store) => ({ write: async (...words) => (await store.write(...words)) ?? 'none' }),
    ],
    [
      'keeps the version of an equal value',
      (store) => ({
        write: async (key, value, expected) => {
          const found = await store.read(key)
          return found !== undefined && found.value === value && found.version === expected
            ? expected
            : store.write(key, value, expected)
        },
      }),
    ],
    [
      'reads before it writes, in two steps',
      (store) => ({
        write: async (key, value, expected) => {
          const found = await store.read(key)
          await null
          return found?.version === expected ? overwrite(store, key, value) : undefined
        },
      }),
    ],
    [
      'lists by prefix',
      (store) => ({
        list: async (folder) => [...(await store.list(folder)), ...(await store.list(`${folder}below/`))],
      }),
    ],
    ['trims values', (store) => ({ write: async (key, value, ...rest) => store.write(key, value.trim(), ...rest) })],
    [
      'treats keys that differ in case as equal',
      (store) => ({
        read: (key) => store.read(key.toLowerCase()),
        write: (key, ...rest) => store.write(key.toLowerCase(), ...rest),
      }),
    ],
    [
      'goes on though it was aborted',
      (store) => ({
        read: (key) => store.read(key),
        list: (folder) => store.list(folder),
        write: (key, value, expected) => store.write(key, value, expected),
      }),
    ],
    ['has a clock in seconds', (store) => ({ nowMs: async () => ((await store.nowMs?.()) ?? 0) / 1000 })],
    ['has another life at each call', () => ({ incarnation: async () => crypto.randomUUID() })],
    ['is not durable and has no name for its life', () => ({ durable: false })],
    [
      'removes any version',
      (store) => ({
        remove: async (key, _expected, signal) => {
          const found = await store.read(key, signal)
          return found !== undefined && remove(store, key, found.version)
        },
      }),
    ],
    [
      'says that it has removed, and has not',
      () => ({
        remove: async (_key, _expected, signal) => {
          signal?.throwIfAborted()
          return true
        },
      }),
    ],
    [
      'removes in two steps',
      (store) => ({
        remove: async (key, expected, signal) => {
          const found = await store.read(key, signal)
          await null
          if (found?.version !== expected) return false
          await null
          return remove(store, key, (await store.read(key))?.version ?? '')
        },
      }),
    ],
    ['removes though it was aborted', (store) => ({ remove: (key, expected) => remove(store, key, expected) })],
    [
      'adds in two steps',
      () => {
        const sums = new Map<string, bigint>()
        return {
          add: async (key, count) => {
            const sum = sums.get(key) ?? 0n
            await null
            sums.set(key, sum + count)
            return sum + count
          },
        }
      },
    ],
    [
      'adds as numbers',
      () => {
        const sums = new Map<string, number>()
        return {
          add: async (key, count) => {
            sums.set(key, (sums.get(key) ?? 0) + Number(count))
            return BigInt(sums.get(key) as number)
          },
        }
      },
    ],
  ]

  it.each(defects)('notices a store that %s', async (_name, defect) => {
    const store = memoryStore()
    const defective = { ...store, ...defect(store) }
    const results = await Promise.allSettled(storeContract(async () => defective).map(({ run }) => run()))
    expect(results.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0)
  })
})

async function remove(store: Store, key: string, expected: string): Promise<boolean> {
  return (await store.remove?.(key, expected)) === true
}

async function overwrite(store: Store, key: string, value: string): Promise<string | undefined> {
  for (;;) {
    const found = await store.read(key)
    const version = await store.write(key, value, found?.version)
    if (version !== undefined) return version
  }
}
