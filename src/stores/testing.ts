import { newScratchFolder } from './record.js'
import type { Store, StoreEntry } from './store.js'

/** One rule of the interface of stores. */
export interface StoreCase {
  /** The rule, as a sentence about the store. */
  readonly name: string
  /** Rejects if the store breaks the rule, with an Error that shows the faulty result. */
  run(): Promise<void>
}

/**
 * Returns the rules that leases and segments rely on, as cases for any test runner: each case has a name, and
 * a function without parameters whose promise rejects if the store breaks the rule. Each case works in a
 * folder of its own, and leaves its records there.
 *
 * No case makes a database lose acknowledged writes, or answer late or twice: declare by `durable` whether
 * acknowledged writes may be lost.
 *
 * @param open - The store to test. It is called once for each case, and may return the same store.
 * @example
 * // A store of your own. Here a Map and a wait replace the database.
 * const rows = new Map()
 * const ask = async (question, signal) => {
 *   signal?.throwIfAborted()
 *   await new Promise((resolve) => setTimeout(resolve, 1))
 *   return question()
 * }
 * const mine = {
 *   name: 'mine',
 *   durable: true,
 *   read: (key, signal) => ask(() => rows.get(key), signal),
 *   list: (folder, signal) =>
 *     ask(() => {
 *       const isIn = ({ key }) => key.startsWith(folder) && !key.includes('/', folder.length)
 *       return [...rows.values()].filter(isIn)
 *     }, signal),
 *   write: (key, value, expected, signal) =>
 *     ask(() => {
 *       // In one step: no other write may come between the two lines.
 *       if (rows.get(key)?.version !== expected) return undefined
 *       const version = crypto.randomUUID()
 *       rows.set(key, { key, value, version })
 *       return version
 *     }, signal),
 * }
 *
 * for (const { name, run } of storeContract(async () => mine)) {
 *   await run() // test(name, run) of node:test, it(name, run) of Vitest and Jest
 * }
 */
export function storeContract(open: () => Promise<Store>): StoreCase[] {
  return cases.map(([name, run]) => ({
    name,
    run: async () => run(await open(), newScratchFolder()),
  }))
}

const cases: readonly [string, (store: Store, folder: string) => Promise<void>][] = [
  [
    'has a name, and says whether it is durable',
    async (store) => {
      equal(typeof store.name, 'string', 'the type of name')
      equal(typeof store.durable, 'boolean', 'the type of durable')
    },
  ],
  [
    'has nothing under a key that was never written',
    async (store, folder) => {
      equal(await store.read(`${folder}none`), undefined, 'the record')
      equal(await store.list(folder), [], 'the list')
    },
  ],
  [
    'creates a key once',
    async (store, folder) => {
      const key = `${folder}1`
      const version = await wrote(store, key, 'first', undefined)
      equal(await store.write(key, 'second', undefined), undefined, 'the version of the second')
      same(await store.read(key), { key, value: 'first', version })
    },
  ],
  [
    'writes over the expected version, and over no other version',
    async (store, folder) => {
      const key = `${folder}1`
      const first = await wrote(store, key, 'first', undefined)
      const second = await wrote(store, key, 'second', first)
      equal(await store.write(key, 'third', first), undefined, 'the version of a write that expects the first')
      same(await store.read(key), { key, value: 'second', version: second })
      equal(await store.write(`${folder}2`, 'x', second), undefined, 'the version of a write where nothing is')
      equal(await store.read(`${folder}2`), undefined, 'the record where nothing was')
    },
  ],
  [
    'gives every write a version of its own, even if the value is equal',
    async (store, folder) => {
      const key = `${folder}1`
      const versions = [await wrote(store, key, 'same', undefined)]
      for (let i = 0; i < 5; i++) versions.push(await wrote(store, key, 'same', versions.at(-1)))
      equal(new Set(versions).size, versions.length, 'the number of versions')
      for (const old of versions.slice(0, -1)) {
        equal(await store.write(key, 'late', old), undefined, 'the version of a write that expects an old one')
      }
    },
  ],
  [
    'lets only one of many writes land if all expect the same version',
    async (store, folder) => {
      const key = `${folder}1`
      let expected: string | undefined
      for (let round = 0; round < 5; round++) {
        const values = Array.from({ length: 16 }, (_, i) => `${round} ${i}`)
        const versions = await Promise.all(values.map((value) => store.write(key, value, expected)))
        const landed = values.filter((_, i) => versions[i] !== undefined)
        equal(landed.length, 1, 'the number of writes that landed')
        const found = await store.read(key)
        equal(found?.value, landed[0], 'the value')
        expected = found?.version
        equal(versions.includes(expected), true, 'whether a write answered the version')
      }
    },
  ],
  [
    'lists the records of a folder, and no others',
    async (store, folder) => {
      const written: StoreEntry[] = []
      for (const name of ['1', '10', '2', 'a-b_c.d']) {
        const key = folder + name
        written.push({ key, value: name, version: await wrote(store, key, name, undefined) })
      }
      await wrote(store, `${folder}below/1`, 'deeper', undefined)
      await wrote(store, `${folder.slice(0, -1)}0/1`, 'beside', undefined)
      const listed = [...(await store.list(folder))].sort((a, b) => (a.key < b.key ? -1 : 1))
      equal(
        listed.map(({ key, value, version }) => ({ key, value, version })),
        written,
        'the list',
      )
    },
  ],
  [
    'keeps values of every kind of text as they are',
    async (store, folder) => {
      const values = ['', ' ', '{"a":1}', 'a\nb\tc', 'ß 语 😀', "'; DROP TABLE x; --", 'x'.repeat(4096)]
      for (const [i, value] of values.entries()) {
        await wrote(store, `${folder}${i}`, value, undefined)
        equal((await store.read(`${folder}${i}`))?.value, value, 'the value')
      }
    },
  ],
  [
    'tells keys apart that differ in case, or are long',
    async (store, folder) => {
      const keys = [`${folder}a`, `${folder}A`, folder + 'x'.repeat(150), `${folder}${'x'.repeat(149)}y`]
      for (const key of keys) await wrote(store, key, key, undefined)
      for (const key of keys) equal((await store.read(key))?.value, key, 'the value')
    },
  ],
  [
    'does not begin a call whose signal is aborted',
    async (store, folder) => {
      const signal = AbortSignal.abort(new Error('aborted by the contract'))
      const calls = [
        () => store.read(`${folder}1`, signal),
        () => store.list(folder, signal),
        () => store.write(`${folder}1`, 'x', undefined, signal),
      ]
      for (const call of calls) equal(await settles(call), 'rejected', 'the call')
      equal(await store.read(`${folder}1`), undefined, 'the record')
      if (store.remove === undefined) return
      const version = await wrote(store, `${folder}1`, 'x', undefined)
      equal(await settles(async () => store.remove?.(`${folder}1`, version, signal)), 'rejected', 'the removal')
      equal((await store.read(`${folder}1`))?.version, version, 'the version')
    },
  ],
  [
    'has a clock that goes on, if it has one',
    async (store) => {
      if (store.nowMs === undefined) return
      const first = await store.nowMs()
      equal(Number.isFinite(first) && first > 1.6e12, true, `whether ${first} is in milliseconds since 1970`)
      const second = await store.nowMs()
      equal(second >= first && second - first < 60_000, true, `whether ${second} follows ${first}`)
    },
  ],
  [
    'names its run, by a name that does not change, if it is not durable',
    async (store) => {
      if (store.incarnation === undefined) return equal(store.durable, true, 'whether it is durable')
      const name = await store.incarnation()
      equal(typeof name === 'string' && name !== '', true, 'whether it is a text')
      equal(await store.incarnation(), name, 'the name, a moment later')
    },
  ],
  [
    'removes the expected version, and no other version, if it removes',
    async (store, folder) => {
      if (store.remove === undefined) return
      const key = `${folder}1`
      const remove = (expected: string) => (store.remove as NonNullable<Store['remove']>)(key, expected)
      const first = await wrote(store, key, 'first', undefined)
      await wrote(store, `${folder}2`, 'beside', undefined)
      const second = await wrote(store, key, 'second', first)
      equal(await remove(first), false, 'whether a removal that expects the first version removed')
      same(await store.read(key), { key, value: 'second', version: second })
      equal(await remove(second), true, 'whether a removal that expects the second version removed')
      equal(await store.read(key), undefined, 'the record')
      equal((await store.list(folder)).length, 1, 'the length of the list')
      equal(await remove(second), false, 'whether a second removal removed')
      equal(await store.write(key, 'late', second), undefined, 'the version of a write over a removed record')
      let present: string | undefined
      for (let round = 0; round < 4; round++) {
        present ??= await wrote(store, key, 'again', undefined)
        equal(await remove(second), false, 'whether a removal of a former record removed')
        const [removed, written] = await Promise.all([remove(present), store.write(key, 'over', present)])
        equal((written !== undefined) !== removed, true, 'whether one of a removal and a write landed')
        present = (await store.read(key))?.version
        equal(present, written, 'the version')
      }
    },
  ],
  [
    'adds in one step, if it adds',
    async (store, folder) => {
      if (store.add === undefined) return
      const key = `${folder}sum`
      const add = (count: bigint) => (store.add as NonNullable<Store['add']>)(key, count)
      equal(await add(5n), 5n, 'the first sum')
      const sums = await Promise.all(Array.from({ length: 20 }, () => add(10n)))
      equal(new Set(sums).size, 20, 'the number of sums')
      equal(await add(2n ** 62n), 2n ** 62n + 205n, 'a sum that a number does not hold')
    },
  ],
]

async function wrote(store: Store, key: string, value: string, expected: string | undefined): Promise<string> {
  const version = await store.write(key, value, expected)
  if (typeof version !== 'string' || version === '') {
    throw new Error(`write(${key}) that expects ${expected} answered ${version}, and has to land`)
  }
  return version
}

function same(found: StoreEntry | undefined, expected: StoreEntry): void {
  equal(
    found && [found.key, found.value, found.version],
    [expected.key, expected.value, expected.version],
    'the record',
  )
}

async function settles(call: () => Promise<unknown>): Promise<'fulfilled' | 'rejected'> {
  return call().then(
    () => 'fulfilled',
    () => 'rejected',
  )
}

function equal(found: unknown, expected: unknown, what: string): void {
  const text = (value: unknown) =>
    JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? `${part}n` : part)) ?? 'undefined'
  if (text(found) !== text(expected)) throw new Error(`${what} is ${text(found)}, and has to be ${text(expected)}`)
}
