import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { composeId, createGenerator, decode, defineLayout, type Field, type LayoutSpec, layouts } from 'graupel'
import { createMask } from 'graupel/mask'
import { leafAllocStore } from 'graupel/segments'
import { memoryStore } from 'graupel/stores'
import { consulStore } from 'graupel/stores/consul'
import { dynamodbStore } from 'graupel/stores/dynamodb'
import { etcdStore } from 'graupel/stores/etcd'
import { kubernetesStore } from 'graupel/stores/kubernetes'
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
import { createRandomUuidGenerator, createUuidGenerator, uuidOf } from 'graupel/uuid'
import { afterAll, expect, it } from 'vitest'
import { checkConnectOptions, connectRows } from '../../src/client/options.js'
import type { Row } from '../../src/core/options.js'
import { counterRows } from '../../src/counter/options.js'
import { checkCounterOptions } from '../../src/counter/resolve.js'
import { generatorRows } from '../../src/generator/options.js'
import { resolveOptions } from '../../src/generator/resolve.js'
import { leaseRows } from '../../src/lease/options.js'
import { resolveLeaseOptions } from '../../src/lease/resolve.js'
import { checkSegmentOptions, segmentRows } from '../../src/segments/options.js'
import { serialRows } from '../../src/serial/define.js'
import { docstrings, documentedDefaults } from '../support/defaults.js'
import { repository } from '../support/documents.js'
import { caught, freshNamespace } from '../support/engines.js'

// Every `@default` of the library, and what happens if the option is left out.

const folder = mkdtempSync(join(tmpdir(), 'graupel-defaults-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [store, { twitter }] = [memoryStore(), layouts]
const generator = resolveOptions({ node: 7 })
const slow = defineLayout({ ...twitter, name: 'slow', tickMs: 1000, epochMs: 0 })
const lease = resolveLeaseOptions({ store })
const counter = checkCounterOptions({ store, name: 'invoices' })
const segments = checkSegmentOptions({ store, name: 'orders' })
const wideSegments = checkSegmentOptions({ store, name: 'orders', step: 2 ** 25 })
const url = 'http://127.0.0.1:4728'
const client = checkConnectOptions({ url })
const mask = createMask(Uint8Array.from({ length: 32 }, (_, i) => i))
const uuids = () => createUuidGenerator({ node: 7, namespace: freshNamespace() })
const spec: LayoutSpec<readonly Field[]> = { name: 'mine', epochMs: 0, tickMs: 1, fields: twitter.fields }
const poolThat = (query: unknown) =>
  ({ getConnection: async () => ({ query, release() {}, destroy() {} }), execute() {} }) as never
const pool = poolThat(() => {})
const dynamodb = {
  ...{ getItem() {}, putItem() {}, query() {}, updateItem() {}, deleteItem() {} },
  ...{ middlewareStack: { clone() {} }, config: {} },
} as never

/** The first text that a store gives to its client which has the word `graupel` or `leaf`. */
async function nameIn(use: (see: (...given: unknown[]) => never) => unknown): Promise<string | undefined> {
  let name: string | undefined
  const see = (...given: unknown[]): never => {
    name ??= /(graupel|leaf)\w*/.exec(JSON.stringify(given))?.[0]
    throw new Error('seen')
  }
  await Promise.resolve()
    .then(() => use(see))
    .catch(() => {})
  return name
}

/** Asks a store over HTTP for a key, and returns the URL, the method and the body of its first request. */
async function requestOf(make: () => { read(key: string): Promise<unknown> }): Promise<string> {
  const before = globalThis.fetch
  let seen = ''
  globalThis.fetch = (async (url: unknown, init: { body?: string } = {}) => {
    seen ||= `${url} ${init.body ?? ''}`
    throw new Error('seen')
  }) as never
  try {
    await make()
      .read('a/b')
      .catch(() => {})
  } finally {
    globalThis.fetch = before
  }
  return seen
}

/** Opens a URL of a store whose server answers all requests with an empty list, and reads a key. */
async function pathOfOpened(): Promise<string | undefined> {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    response.end('[]')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { store, close } = await openStore(`consul://127.0.0.1:${port}`)
  await store.read('a/b', AbortSignal.timeout(10_000))
  await close()
  server.closeAllConnections()
  server.close()
  return paths.map((path) => /^\/v1\/kv\/(\w+)\/a\/b/.exec(path)?.[1]).find((name) => name !== undefined)
}

const opened = async () => {
  const file = join(folder, 'made.db')
  const { store, close } = await openStore(`sqlite:${file}`)
  const isMade = existsSync(file)
  await close()
  return { store, isMade }
}

/** Whether a store in memory warns of other processes, outside of a test runner. */
function warnsOfMemory(): boolean {
  const program = `import { memoryStore } from 'graupel/stores'
    await memoryStore().write('a/b', 'x', undefined)`
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: repository,
    env: { ...env, NODE_ENV: 'production' },
    encoding: 'utf8',
  })
  return stderr.includes('GRAUPEL_MEMORY_STORE')
}

/** The text of the documents, and then pairs: what is measured, and what the text means. */
type Measured = readonly [text: string, ...pairs: readonly (readonly [measure: () => unknown, expected: unknown])[]]

const http = 'the global `fetch`'
const asIsTrue = 'what is true for the database as it usually runs'

const measured: Record<string, Measured> = {
  'CommonOptions.count': [
    '1000, or `maxCount` if that is less',
    [() => client.count, 1000],
    [() => checkConnectOptions({ url, maxCount: 10 }).count, 10],
  ],
  'CommonOptions.maxAgeMs': [
    '300 000; Infinity for numbers of a segment',
    [() => client.maxAgeMs, 300_000],
    [() => checkConnectOptions({ url, segment: 'orders' }).maxAgeMs, Number.POSITIVE_INFINITY],
  ],
  'CommonOptions.fetch': [
    http,
    [() => requestOf(() => ({ read: async () => client.fetch(url, {} as never) })), expect.stringContaining(url)],
  ],
  'ConnectOptions.layout': ['layouts.twitter', [() => client.layout, twitter]],
  'CounterOptions.pattern': ["'{count}'", [() => counter.text.at(0)(7), '7']],
  'GeneratorSettings.node': ['the environment variable `GRAUPEL_NODE`', [nodeOfVariable, 9]],
  'GeneratorSettings.layout': ['layouts.twitter', [() => generator.layout, twitter]],
  'GeneratorSettings.epoch': ['the epoch of the layout', [() => generator.layout.epochMs, twitter.epochMs]],
  'GeneratorSettings.maxAheadMs': [
    '1000, or two ticks of the layout if that is more',
    [() => generator.maxAheadMs, 1000],
    [() => resolveOptions({ node: 7, layout: slow }).maxAheadMs, 2000],
    [() => rollbackOf(1000), undefined],
    [() => rollbackOf(1001), 'ERR_CLOCK_ROLLBACK'],
  ],
  'GeneratorSettings.state': [
    "'host'. The js engine then keeps the node for one process of this host, and refuses a second process. 'process' with a `clock` function, and in browsers.",
    [() => generator.state, { kind: 'host' }],
    [() => resolveOptions({ node: 7, engine: 'js' }).state, { kind: 'host' }],
    [() => resolveOptions({ node: 7, clock: () => Date.now() }).state, { kind: 'process' }],
  ],
  'PlainIdParts.sequence': [
    '0',
    [() => decode(composeId({ timestampMs: Date.now(), node: 7 }, twitter), twitter).sequence, 0],
  ],
  'LayoutSpec.unsigned': ['false', [() => defineLayout(spec).unsigned, false]],
  'LayoutSpec.decodeOnly': ['false', [() => defineLayout(spec).decodeOnly, false]],
  'LeaseOptions.layout': ['layouts.twitter', [() => lease.layout, twitter]],
  'LeaseOptions.epoch': ["the layout's", [() => lease.layout.epochMs, twitter.epochMs]],
  'LeaseOptions.node': ['any node', [() => lease.nodes.count, 1024]],
  'LeaseOptions.nodes': ['all nodes', [() => lease.nodes.count, 1024]],
  'LeaseOptions.owner': ['host name and process id', [() => lease.owner, `${hostname()}/${process.pid}`]],
  'MaskOptions.bits': ['64', [() => mask.bits, 64]],
  'MaskOptions.encoding': ["'base62'", [() => mask.encoding, 'base62']],
  'MemoryStoreOptions.assumeOneProcess': ['false', [() => warnsOfMemory(), true]],
  'SegmentOptions.start': ['1', [() => segments.range.start, 1n]],
  'SegmentOptions.max': ['2^63 - 1, which signed columns hold', [() => segments.range.max, 2n ** 63n - 1n]],
  'SegmentOptions.stride': ['1', [() => segments.range.stride, 1]],
  'SegmentOptions.offset': ['0', [() => segments.range.offset, 0]],
  'SegmentOptions.step': ['1000', [() => segments.steps.first, 1000]],
  'SegmentOptions.minStep': ['step', [() => wideSegments.steps.least, 2 ** 25]],
  'SegmentOptions.maxStep': [
    '2^24, or step if that is more',
    [() => segments.steps.most, 2 ** 24],
    [() => wideSegments.steps.most, 2 ** 25],
  ],
  'SegmentOptions.failoverGap': [
    '64 * maxStep',
    [() => segments.failoverGap, 64n * 2n ** 24n],
    [() => wideSegments.failoverGap, 64n * 2n ** 25n],
  ],
  'ConsulStoreOptions.datacenter': [
    "the agent's datacenter",
    [async () => (await requestOf(() => consulStore({ url }))).includes('dc='), false],
  ],
  'ConsulStoreOptions.namespace': [
    "the token's namespace",
    [async () => (await requestOf(() => consulStore({ url }))).includes('ns='), false],
  ],
  'ConsulStoreOptions.prefix': [
    "'graupel'",
    [() => requestOf(() => consulStore({ url })), expect.stringContaining('/v1/kv/graupel/a/b')],
  ],
  'DynamodbStoreOptions.table': [
    "'graupel_store'",
    [() => dynamodbStore(dynamodb).ddl, expect.stringMatching(/\bgraupel_store\b/)],
  ],
  'ServiceStoreOptions.durable': ['true', [() => serviceStore({ url }).durable, true]],
  'EtcdStoreOptions.prefix': ["'graupel'", [keyOfEtcd, 'graupel/a/b']],
  'HttpOptions.fetch': [http, [() => requestOf(() => etcdStore({ url })), expect.stringContaining(url)]],
  'KubernetesStoreOptions.namespace': [
    'the namespace of the pod',
    [() => caught(() => kubernetesStore({ url })).message, expect.stringContaining('namespace')],
  ],
  'KubernetesStoreOptions.prefix': [
    "'graupel'",
    [() => requestOf(() => kubernetesStore({ url, namespace: 'x' })), expect.stringMatching(/\/leases\/graupel/)],
  ],
  'KubernetesStoreOptions.url': [
    'the API of the cluster in which the process runs',
    [() => caught(() => kubernetesStore()).message, expect.stringContaining('pod')],
  ],
  'KubernetesStoreOptions.fetch': [
    http,
    [() => requestOf(() => kubernetesStore({ url, namespace: 'x' })), expect.stringContaining(url)],
  ],
  'LeafAllocOptions.table': [
    "'leaf_alloc'",
    [() => nameIn((see) => leafAllocStore(poolThat(see)).takeSegment('x')), 'leaf_alloc'],
  ],
  'MongodbStoreOptions.collection': [
    "'graupel_store'",
    [
      () => nameIn((see) => mongodbStore({ databaseName: 'app', command() {}, collection: see } as never)),
      'graupel_store',
    ],
  ],
  'MysqlStoreOptions.table': [
    "'graupel_store'",
    [() => mysqlStore(pool).ddl, expect.stringMatching(/\bgraupel_store\b/)],
  ],
  'ObjectStoreOptions.prefix': [
    "'graupel'",
    [() => nameIn((see) => objectStore({ client: { file: see, getFiles() {} } as never }).read('a/b')), 'graupel'],
  ],
  'PostgresStoreOptions.table': [
    "'graupel_store'",
    [() => postgresStore({ query: async () => [] } as never).ddl, expect.stringMatching(/\bgraupel_store\b/)],
  ],
  'RedisStoreOptions.prefix': [
    "'graupel'",
    [() => nameIn((see) => redisStore({ call: see } as never).read('a/b')), 'graupel'],
  ],
  'SqliteStoreOptions.table': [
    "'graupel_store'",
    [() => sqliteStore({ exec() {}, prepare() {} } as never).ddl, expect.stringMatching(/\bgraupel_store\b/)],
  ],
  'StoreOptions.assumeDurable': [
    asIsTrue,
    [() => redisStore({ call() {} } as never).durable, false],
    [() => postgresStore({ query: async () => [] } as never).durable, false],
    [() => mysqlStore(pool).durable, false],
    [() => sqliteStore({ exec() {}, prepare() {} } as never).durable, true],
    [() => dynamodbStore(dynamodb).durable, true],
    [() => mongodbStore({ databaseName: 'app', command() {}, collection() {} } as never).durable, true],
    [() => etcdStore({ url }).durable, true],
    [() => consulStore({ url }).durable, true],
    [() => zookeeperStore(() => ({}) as never).durable, true],
    [() => kubernetesStore({ url, namespace: 'x' }).durable, true],
    [() => objectStore({ client: { file() {}, getFiles() {} } as never }).durable, true],
  ],
  'ZooKeeperStoreOptions.prefix': ["'graupel'", [async () => (await madeInZooKeeper()).path, '/graupel/%a%2F/b']],
  // The client replaces rights that are not given.
  'ZooKeeperStoreOptions.acl': ['everyone may do everything', [async () => (await madeInZooKeeper()).acl, undefined]],
  'TestGeneratorOptions.layout': ['layouts.twitter', [() => testGenerator().layout, twitter]],
  'TestGeneratorOptions.epoch': ["the layout's", [() => testGenerator().layout.epochMs, twitter.epochMs]],
  'TestGeneratorOptions.node': ['0', [() => testGenerator().node, 0]],
  'TestGeneratorOptions.clock': [
    'stands at 2026-01-01T00:00:00.000Z, or at the epoch of the layout if that is later',
    [timeOfTest, Date.UTC(2026, 0, 1)],
    [() => timeOfTest(Date.UTC(2026, 1, 1)), Date.UTC(2026, 1, 1)],
  ],
  'UuidVersionOption.version': ['7', [() => uuids().version, 7], [() => uuids().next().charAt(14), '7']],
  'RandomUuidGenerator.nextBytes(target)': [
    'a new Uint8Array',
    [() => createRandomUuidGenerator().nextBytes().length, 16],
    [() => uuids().nextBytes().length, 16],
  ],
  'RandomUuidGenerator.nextBytes(at)': [
    '0',
    [
      () => createRandomUuidGenerator().nextBytes(new Uint8Array(32).fill(0xee)).subarray(16),
      new Uint8Array(16).fill(0xee),
    ],
    [() => uuids().nextBytes(new Uint8Array(32).fill(0xee)).subarray(16), new Uint8Array(16).fill(0xee)],
  ],
  'UuidKeyOptions.key': [
    'none; the last bits are zero',
    [() => uuidOf(1541815603606036480n, twitter).slice(-12), '000000000000'],
  ],
  'OpenStoreOptions.prefix': ["'graupel'", [pathOfOpened, 'graupel']],
  'OpenStoreOptions.table': [
    "'graupel_store'",
    [async () => (await opened()).store, expect.objectContaining({ ddl: expect.stringMatching(/\bgraupel_store\b/) })],
  ],
  'OpenStoreOptions.assumeDurable': [asIsTrue, [async () => (await opened()).store.durable, true]],
  // The current folder is the clone, which has the client.
  'OpenStoreOptions.clientsOf': ['the current folder', [async () => (await opened()).store.name, 'sqlite']],
  'OpenStoreOptions.create': ['true', [async () => (await opened()).isMade, true]],
  // It passes the name on as it is.
  'OpenedStore.leafAlloc(table)': [
    "'leaf_alloc'",
    [() => nameIn((see) => leafAllocStore(poolThat(see), {}).takeSegment('x')), 'leaf_alloc'],
  ],
}

/** The tables of options, by the interfaces that have their docstrings. */
const tables: Record<string, Readonly<Record<string, Row>>> = {
  CommonOptions: connectRows,
  CounterOptions: counterRows,
  GeneratorSettings: generatorRows,
  LeaseOptions: leaseRows,
  SegmentOptions: segmentRows,
  SerialOptions: serialRows,
}
const options = Object.entries(tables).flatMap(([owner, table]) =>
  Object.entries(table).map(([name, row]) => [`${owner}.${name}`, row] as const),
)

const digits = (number: number) => (number < 10_000 ? `${number}` : `${number}`.replace(/\B(?=(\d{3})+$)/g, ' '))

it('each documented default is that of its row in a table of options, or measured below', () => {
  const documented = Object.fromEntries(documentedDefaults())
  expect(Object.keys(documented).length).toBeGreaterThan(80)
  const ofTables = options.flatMap(([name, { byDefault }]) => {
    if (typeof byDefault === 'number') return [[name, digits(byDefault)]]
    if (typeof byDefault === 'boolean') return [[name, `${byDefault}`]]
    return typeof byDefault === 'string' ? [[name, `'${byDefault}'`]] : []
  })
  for (const [name, [text]] of Object.entries(measured)) ofTables.push([name, text])
  expect(Object.fromEntries(ofTables)).toEqual(documented)
})

it('each docstring has the limits of its row', () => {
  const documented = docstrings()
  for (const [name, { least = 0, most }] of options) {
    if (typeof most !== 'number' || most === Number.POSITIVE_INFINITY) continue
    expect(documented.get(name), name).toContain(`${digits(Number(least))} to ${digits(most)}`)
  }
})

it.each(Object.entries(measured))('%s', async (_, [, ...pairs]) => {
  expect(pairs.length).toBeGreaterThan(0)
  for (const [measure, expected] of pairs) expect(await measure()).toEqual(expected)
})

function nodeOfVariable(): number {
  process.env['GRAUPEL_NODE'] = '9'
  try {
    return createGenerator({ namespace: freshNamespace() }).node
  } finally {
    delete process.env['GRAUPEL_NODE']
  }
}

/** The code of the error after the clock was set back, if there is one. */
function rollbackOf(ms: number): string | undefined {
  let now = Date.now()
  const ids = createGenerator({ node: 7, namespace: freshNamespace(), clock: () => now, maxWaitMs: 0 })
  ids.next()
  now -= ms
  try {
    ids.next()
    return undefined
  } catch (error) {
    return (error as { code: string }).code
  }
}

function timeOfTest(epoch?: number): number {
  const ids = epoch === undefined ? testGenerator() : testGenerator({ epoch })
  return ids.decode(ids.next()).timestampMs
}

async function keyOfEtcd(): Promise<string> {
  const [, key = ''] = /"key":"([^"]+)"/.exec(await requestOf(() => etcdStore({ url }))) ?? []
  return Buffer.from(key, 'base64').toString()
}

/** The node that a store makes first, and its rights, on a client whose server has the node already. */
async function madeInZooKeeper(): Promise<{ path?: string; acl?: unknown }> {
  const made: { path?: string; acl?: unknown } = {}
  let change = (_: { code: number }) => {}
  const transaction = {
    create(path: string, _: unknown, acl: unknown) {
      if (made.path === undefined) Object.assign(made, { path, acl })
      return transaction
    },
    commit: (answer: (error: unknown) => void) => answer(Object.assign(new Error('it exists'), { code: -110 })),
  }
  const connectionManager = {
    state: 0,
    findNextServer() {},
    onSocketData() {},
    onSocketError() {},
    onSocketClosed() {},
  }
  const client = {
    connectionManager,
    transaction: () => transaction,
    on: (_: string, listener: typeof change) => (change = listener),
    connect: () => void setImmediate(() => change({ code: 3 })),
    close: () => change({ code: 0 }),
    getSessionTimeout: () => 1000,
  }
  await zookeeperStore(() => client as never).write('a/b', 'x', undefined)
  return made
}
