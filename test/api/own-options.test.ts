import {
  composeId,
  createGenerator,
  defineLayout,
  defineSerial,
  type Layout,
  layouts,
  nodeFromEnvironment,
} from 'graupel'
import { connect } from 'graupel/client'
import { defineKind } from 'graupel/kind'
import { acquireLease } from 'graupel/lease'
import { createMask } from 'graupel/mask'
import { createCounter, createSegmentGenerator, leafAllocStore } from 'graupel/segments'
import { consulStore } from 'graupel/stores/consul'
import { dynamodbStore } from 'graupel/stores/dynamodb'
import { etcdStore } from 'graupel/stores/etcd'
import { kubernetesStore } from 'graupel/stores/kubernetes'
import { memoryStore } from 'graupel/stores/memory'
import { mongodbStore } from 'graupel/stores/mongodb'
import { mysqlStore } from 'graupel/stores/mysql'
import { objectStore } from 'graupel/stores/object'
import { postgresStore } from 'graupel/stores/postgres'
import { redisStore } from 'graupel/stores/redis'
import { serviceStore } from 'graupel/stores/service'
import { sqliteStore } from 'graupel/stores/sqlite'
import { openStore } from 'graupel/stores/url'
import { zookeeperStore } from 'graupel/stores/zookeeper'
import { testGenerator } from 'graupel/testing'
import { createUuidGenerator } from 'graupel/uuid'
import { afterEach, describe, expect, it } from 'vitest'
import { type Caught, caught, freshNamespace } from '../support/engines.js'

/** A function that takes options. */
interface Entry {
  readonly name: string
  /** Every one of them is required. */
  readonly given: Record<string, unknown>
  readonly call: (options: never) => unknown
  /** The part of a result that depends on the options. */
  readonly shown?: (result: never) => unknown
  /** The code for an option that is inherited. */
  readonly code?: string
}

const { name, epochMs, tickMs, fields } = layouts.twitter
const http = async () => new Response('{}')
const pool = { getConnection() {}, execute() {} } as never
const tables = {
  ...{ getItem() {}, putItem() {}, query() {}, updateItem() {}, deleteItem() {} },
  ...{ middlewareStack: { clone() {} }, config: {} },
}
const key = Uint8Array.from({ length: 32 }, (_, i) => i)

const entries: Entry[] = [
  { name: 'createGenerator', given: { node: 7 }, call: createGenerator, shown: (ids: object) => JSON.stringify(ids) },
  {
    name: 'acquireLease',
    given: { store: memoryStore() },
    call: acquireLease,
    shown: async (lease: { namespace: string; layout: Layout; release(): Promise<void> }) => {
      await lease.release()
      return [lease.namespace, lease.layout.name]
    },
  },
  {
    name: 'createSegmentGenerator',
    given: { store: memoryStore(), name: 'orders' },
    call: createSegmentGenerator,
    shown: (ids: object) => JSON.stringify(ids),
  },
  { name: 'createCounter', given: { store: memoryStore(), name: 'invoices' }, call: createCounter },
  {
    name: 'connect',
    given: { url: 'http://127.0.0.1:1', fetch: http, signal: AbortSignal.abort() },
    call: (options) => (connect(options) as Promise<unknown>).catch((error) => error.message),
    shown: (message) => message,
  },
  { name: 'redisStore', given: {}, call: (options) => redisStore({ call: async () => {} } as never, options) },
  { name: 'postgresStore', given: {}, call: (options) => postgresStore({ query: async () => {} } as never, options) },
  { name: 'mysqlStore', given: {}, call: (options) => mysqlStore(pool, options) },
  { name: 'leafAllocStore', given: {}, call: (options) => leafAllocStore(pool, options) },
  {
    name: 'mongodbStore',
    given: {},
    call: (options) => mongodbStore({ databaseName: 'app', command() {}, collection() {} } as never, options),
  },
  { name: 'sqliteStore', given: {}, call: (options) => sqliteStore({ prepare() {}, exec() {} } as never, options) },
  { name: 'zookeeperStore', given: {}, call: (options) => zookeeperStore(() => ({}) as never, options) },
  {
    name: 'dynamodbStore',
    given: {},
    call: (options) => dynamodbStore(tables as never, options),
  },
  { name: 'etcdStore', given: { url: 'http://127.0.0.1:1' }, call: etcdStore },
  { name: 'serviceStore', given: { url: 'http://127.0.0.1:1' }, call: serviceStore },
  { name: 'objectStore', given: { client: { file() {}, getFiles() {} } }, call: objectStore },
  { name: 'consulStore', given: { url: 'http://127.0.0.1:1' }, call: consulStore },
  { name: 'kubernetesStore', given: { url: 'http://127.0.0.1:1', namespace: 'x' }, call: kubernetesStore },
  {
    name: 'openStore',
    given: { create: false },
    call: async (options) => openStore('nosuch://host', options).catch((error) => error.message),
    shown: (message) => message,
  },
  {
    name: 'defineKind',
    given: { prefix: 'ord', layout: layouts.twitter },
    call: defineKind,
    shown: (kind: object) => JSON.stringify(kind),
  },
  {
    name: 'createUuidGenerator',
    given: { node: 7 },
    call: createUuidGenerator,
    shown: (uuids: object) => JSON.stringify(uuids),
  },
  { name: 'createMask', given: { keys: { a: key } }, call: createMask, shown: (mask: object) => JSON.stringify(mask) },
  {
    name: 'defineSerial',
    given: {
      pattern: '{timestamp}-{node}-{sequence}'.replace('timestamp', 'yyyyMMddHHmmssSSS'),
      layout: layouts.twitter,
    },
    call: defineSerial,
    shown: (serial: object) => JSON.stringify(serial),
  },
  { name: 'testGenerator', given: {}, call: testGenerator, shown: (ids: { next(): bigint }) => ids.next() },
  {
    name: 'defineLayout',
    given: { name, epochMs, tickMs, fields },
    call: defineLayout,
    shown: (layout: object) => JSON.stringify(layout),
    code: 'ERR_LAYOUT_INVALID',
  },
  {
    name: 'composeId',
    given: { timestampMs: Date.UTC(2030, 0, 1), node: 7 },
    call: (parts) => composeId(parts, layouts.twitter),
    shown: (id) => id,
    code: 'ERR_ID_INVALID',
  },
  {
    name: 'nodeFromEnvironment',
    given: {},
    call: (sources) => caught(() => nodeFromEnvironment(sources)).message,
    shown: (message) => message,
  },
]

/** Adds a property to all objects, as other code may do, for the length of one call. */
function polluted<T>(name: string, value: unknown, call: () => T): T {
  Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: true, writable: true })
  try {
    return call()
  } finally {
    Reflect.deleteProperty(Object.prototype, name)
  }
}

/** The names of an entry's options, by what it says of one that it does not have. */
async function namesOf({ call }: Entry): Promise<string[]> {
  const message = await messageOf(() => call({ [unknown]: 1 } as never))
  const [, names = ''] = /(?:the options are|it has|the only one is) (.*)$/.exec(message) ?? []
  return names.split(', ')
}
const unknown = 'no such option'

async function messageOf(call: () => unknown): Promise<string> {
  return (await errorOf(call)).message
}

/** The error of a call that throws, or whose promise rejects; or the text that it returns in place of one. */
async function errorOf(call: () => unknown): Promise<Caught> {
  try {
    const result = await call()
    if (typeof result === 'string') return new Error(result)
  } catch (error) {
    return error as Caught
  }
  throw new Error('nothing was thrown')
}

describe.each(entries)('the options of $name', (entry) => {
  const { given, call, shown = () => 'it was made' } = entry
  const resultOf = async (result: unknown) => shown((await result) as never)

  afterEach(() => {
    // Nothing may be left for other tests.
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  it('are not read from Object.prototype', async () => {
    const names = await namesOf(entry)
    expect(names).toEqual(expect.arrayContaining(Object.keys(given)))
    const expected = await resultOf(call({ ...given } as never))
    for (const name of names) {
      // Every option refuses a symbol.
      const result = polluted(name, Symbol(name), () => call({ ...given } as never))
      expect(await resultOf(result), name).toEqual(expected)
    }
  })

  it('are missing although Object.prototype has them', async () => {
    for (const [name, value] of Object.entries(given)) {
      const { [name]: _, ...others } = given
      if (entry.name === 'connect' && name !== 'url') continue
      if (entry.name === 'openStore') continue
      const expected = await messageOf(() => call(others as never))
      expect(await messageOf(() => polluted(name, value, () => call(others as never))), name).toBe(expected)
    }
  })

  it('are refused if the object inherits them, or hides them', async () => {
    for (const name of await namesOf(entry)) {
      const { [name]: value = 1, ...others } = given
      const inheriting = Object.assign(Object.create({ [name]: value }), others)
      const hiding = Object.defineProperty({ ...others }, name, { value })
      for (const options of [inheriting, hiding]) {
        const error = await errorOf(() => call(options as never))
        expect(error.message).toMatch(`'${name}' is inherited or not enumerable; pass an object`)
        if (error.code !== undefined) expect(error.code).toBe(entry.code ?? 'ERR_OPTION_INVALID')
      }
    }
  })
})

describe('a generator', () => {
  it.each(['path', 'kind', 'reserveMs'])('takes no %s of its state from Object.prototype', (name) => {
    const call = () => createGenerator({ node: 7, state: 'process', namespace: freshNamespace() })
    expect(polluted(name, Symbol(name), call).state).toBe('process')
  })
})

describe('what stands in an option', () => {
  it('is a node whose fields are its own', () => {
    const call = () => createGenerator({ node: { datacenter: 1 } as never, state: 'process' })
    const message = /^the node has no 'worker'; /
    expect(caught(() => polluted('worker', 7, call)).message).toMatch(message)
    const node = Object.create({ worker: 7 }, { datacenter: { value: 1, enumerable: true } })
    expect(caught(() => createGenerator({ node })).message).toMatch(message)
  })

  it('is a node of a lease whose fields are its own', async () => {
    const node = Object.create({ datacenter: 3 })
    const error = await errorOf(() => acquireLease({ store: memoryStore(), node }))
    expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_NODE_INVALID' })
    expect(error.message).toMatch("the field 'datacenter' is inherited or not enumerable")
  })

  it('is the handle of a lease, although Object.prototype has another one', async () => {
    const lease = await acquireLease({ store: memoryStore() })
    const { handle } = lease
    const { node } = polluted('handle', {}, () => createGenerator({ lease: handle }))
    expect(node).toBe(lease.node)
    await lease.release()
  })
})
