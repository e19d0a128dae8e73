import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { decode, layouts } from 'graupel'
import { memoryStore, type Store } from 'graupel/stores'
import { describe, expect, test } from 'vitest'
import type { Given } from '../../server/src/options/table.ts'
// Before the service, which releases its nodes in this folder after the tests.
import { folder } from '../support/needs.ts'
import { listen } from './support/listening.ts'

// The records of version 0.1, which are kept for good: later versions go on with them, and write records that
// 0.1 can read, so processes of both versions can share a store during an upgrade. A change that makes a test
// fail needs another format, and a way to upgrade. docs/service-operations.md promises this.

const text = (name: string) => readFileSync(new URL(`records/${name}`, import.meta.url), 'utf8')
const load = createRequire(new URL('../../server/package.json', import.meta.url))

/** The options of the processes that wrote the records, and a node that was held or released then. */
const optionsFor = (node: number): Given => ({ node, counters })
const counters = { daily: { pattern: '{yyyyMMdd}-{count:6}', reset: 'day', timeZone: '+08:00' }, invoices: {} } as const

interface Numbers {
  readonly ids?: readonly string[]
  readonly numbers?: readonly string[]
  readonly counts?: readonly string[]
}

/** Starts this version over a store, and returns the first answers. */
async function firstAnswers(node: number, given: Given, store?: Store) {
  const service = await listen({ ...optionsFor(node), ...given }, store && { store })
  const get = async (path: string) => (await (await fetch(`${service.url}${path}`)).json()) as Numbers
  const { ids = [] } = await get('/v1/ids')
  const { numbers = [] } = await get('/v1/segments/orders')
  const { counts: invoices = [] } = await get('/v1/counters/invoices')
  const { counts: daily = [] } = await get('/v1/counters/daily')
  return { service, id: decode(ids[0] ?? '', layouts.twitter), numbers, invoices, daily }
}

type Fields = Readonly<Record<string, unknown>>

/** The records of a store by their keys, without those that this version added. */
async function recordsOf(store: Store): Promise<Map<string, Fields>> {
  const entries = await Promise.all(['groups/', 'leases/default-fe83ea1c/0/', 'numbers/'].map((one) => store.list(one)))
  return new Map(entries.flat().map(({ key, value }) => [key, JSON.parse(value) as Fields]))
}

/**
 * The parts of a record by which version 0.1 reads it: its format, what it is for, and the types of its
 * fields.
 */
function shapeOf(record: Fields | undefined, fields: readonly string[]) {
  const { format, ids, kind, name } = record ?? {}
  return { format, ids, kind, name, types: fields.map((field) => [field, typeof record?.[field]]) }
}

function expectReadable(records: ReadonlyMap<string, Fields>, old: ReadonlyMap<string, Fields>): void {
  expect(old.size).toBeGreaterThan(5)
  for (const [key, before] of old) {
    const fields = Object.keys(before)
    expect([key, shapeOf(records.get(key), fields)]).toEqual([key, shapeOf(before, fields)])
  }
}

const heldMs = Date.parse('2025-01-01T00:00:16.011Z')

describe('records of an embedded database', () => {
  const database = (name: string) => {
    const file = join(folder, name)
    const Database = load('libsql') as new (path: string) => { exec(sql: string): void; close(): void }
    const opened = new Database(file)
    opened.exec(text('durable-0.1.sql'))
    opened.close()
    return `sqlite:${file}`
  }

  test.each([
    ['was released', 3],
    ['is held by a process that was killed', 674],
  ])('go on, and the node that %s is leased again', async (_, node) => {
    const { id, numbers, invoices, daily, service } = await firstAnswers(node, { store: database(`${node}.db`) })
    expect(id.node).toBe(node)
    expect(id.timestampMs).toBeGreaterThanOrEqual(heldMs)
    expect([numbers, invoices]).toEqual([['1001'], ['6']])
    expect(daily[0]).toMatch(/^20\d{6}-000001$/)
    const { store } = service.service.opened
    expect([...(await recordsOf(store)).keys()].sort()).toEqual([
      'groups/default-fe83ea1c',
      'leases/default-fe83ea1c/0/3',
      'leases/default-fe83ea1c/0/674',
      'numbers/daily',
      'numbers/invoices',
      'numbers/orders',
    ])
  })

  test('are written so that the version that made them can read them', async () => {
    const before = text('durable-0.1.sql').matchAll(/VALUES\('([^']+)','([^']+)'/g)
    const old = new Map(Array.from(before, ([, key = '', value = '']) => [key, JSON.parse(value) as Fields]))
    const both = { store: database('both.db') }
    const { service } = await firstAnswers(674, both)
    await firstAnswers(3, both)
    const records = await recordsOf(service.service.opened.store)
    const isChanged = (key: string) => JSON.stringify(records.get(key)) !== JSON.stringify(old.get(key))
    expect([...old.keys()].filter((key) => !isChanged(key))).toEqual(['groups/default-fe83ea1c'])
    expectReadable(records, old)
  })
})

describe('records of a store that may forget', () => {
  const old = new Map(Object.entries(JSON.parse(text('forgetful-0.1.json')) as Record<string, Fields>))
  const filled = async (incarnation: string): Promise<Store> => {
    const store = memoryStore()
    for (const [key, value] of old) await store.write(key, JSON.stringify(value), undefined)
    return { ...store, durable: false, incarnation: async () => incarnation }
  }

  test('go on in the same life of the server without a wait', async () => {
    const store = await filled('life-1')
    const { id, numbers, invoices } = await firstAnswers(674, {}, store)
    expect(id.node).toBe(674)
    expect([numbers, invoices]).toEqual([['1001'], ['6']])
    expectReadable(await recordsOf(store), old)
  })

  test('of segments skip the gap in another life of the server', async () => {
    const store = await filled('life-2')
    const { service } = await listen({ counters }, { store, isOpen: false })
    const segment = await service.segments.get('orders')
    expect(await segment.nextAsync()).toBe(1001n + 64n * 2n ** 24n)
  })
})

test('a process of another format is refused by a code, and the record is kept', async () => {
  const store = memoryStore()
  const later = JSON.stringify({ format: 2, kind: 'segments', name: 'orders' })
  await store.write('numbers/orders', later, undefined)
  const { url } = await listen({}, { store })
  const answer = await fetch(`${url}/v1/segments/orders`)
  expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'ERR_STATE_MISMATCH' }])
  expect((await store.read('numbers/orders'))?.value).toBe(later)
})
