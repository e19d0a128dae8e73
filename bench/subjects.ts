import * as crypto from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Codecs, Source, Stamp, Subject, Wanted } from './contract.ts'
import { rivals } from './rivals/index.ts'

/** The namespace of the bench, so that the host remembers no ids of the bench for a node in use. */
const ownNamespace = 'graupel bench'

const stamps = {
  wide: { epochMs: Date.UTC(2020, 0, 1), shift: 22, perMs: 65_536 },
  twitter: { epochMs: 1_288_834_974_657, shift: 22, perMs: 4096 },
  roomy: { epochMs: Date.UTC(2020, 0, 1), shift: 22, perMs: 2 ** 20 },
  // 53 bits have room for decades, or for 2^17 ids a millisecond if the epoch is yesterday.
  number: { epochMs: Date.now() - 86_400_000, shift: 17, perMs: 2 ** 17 },
} as const

/** Returns `undefined` if the ids may run ahead of the clock, or have no time. */
export function stampOf(subject: Subject, { layout, unbounded }: Wanted): Stamp | undefined {
  return 'stamp' in subject || unbounded ? subject.stamp : stamps[layout]
}

/** Names a subject to another process or thread. */
export interface SubjectName {
  name: string
  build?: string | undefined
}

export function subjectOf({ name, build }: SubjectName): Subject {
  const subject = subjects.find((one) => one.name === name)
  if (subject === undefined) throw new Error(`there is no subject '${name}'`)
  if (build === undefined) return subject
  if (subject.group === 'service') return { ...subject, build }
  if (subject.group !== 'graupel') return subject
  return name === segmentsName ? segments(build) : ours(name, build)
}

/**
 * Returns the URL of an entry of a build. The main entry is the entry for Node, if the build has such an
 * entry.
 */
function urlOf(build: string | undefined, entry = '') {
  if (build === undefined) return import.meta.resolve(entry === '' ? 'graupel' : `graupel/${entry}`)
  const forNode = join(build, 'dist/node/index.js')
  return pathToFileURL(entry === '' && existsSync(forNode) ? forNode : join(build, 'dist', entry, 'index.js')).href
}

type Own = { title: string; engine: 'native' | 'js'; state?: () => string; isView?: true }

const own: Record<string, Own> = {
  'graupel-native': { title: 'graupel native', engine: 'native' },
  'graupel-process': { title: "graupel native, state 'process'", engine: 'native', state: () => 'process' },
  'graupel-file': { title: 'graupel native, state in a file', engine: 'native', state: temporaryFile },
  'graupel-view': { title: 'graupel native, a view', engine: 'native', isView: true },
  'graupel-js': { title: 'graupel js', engine: 'js' },
  'graupel-js-view': { title: 'graupel js, a view', engine: 'js', isView: true },
}

function temporaryFile() {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'ids.state')
}

function ours(name: string, build?: string): Subject {
  const { title, engine, state, isView } = own[name] as Own
  const load = (): Promise<typeof import('graupel')> => import(urlOf(build))
  return {
    name,
    title,
    group: 'graupel',
    ...(build !== undefined && { build }),
    url: () => urlOf(build),
    ...((state !== undefined || isView) && { only: ['next'] }),
    // The engines share their codecs, and each observes ids in its own way.
    ...(name === 'graupel-native' && {
      codecs: async () => {
        const entry = await load()
        return { ...codecsOf(entry), ...observerOf(entry, engine), ...(await maskOf(build)), ...(await kindsOf(build)) }
      },
    }),
    ...(name === 'graupel-js' && { codecs: async () => observerOf(await load(), engine) }),
    async load() {
      const entry = await load()
      const { createGenerator, defineLayout, layouts } = entry
      const toUuids = await uuidsOf(build)
      const define = (name: 'roomy' | 'number', fields: Record<string, number>) =>
        defineLayout({ name, epochMs: stamps[name].epochMs, tickMs: 1, fields: Object.entries(fields) })
      const chosen = {
        wide: isView ? (taggedWide(entry) as never) : layouts.wide,
        twitter: layouts.twitter,
        roomy: define('roomy', { timestamp: 41, node: 2, sequence: 20 }),
        number: define('number', { timestamp: 36, sequence: 17 }),
      }
      // Two builds in one process do not share a node, because the js engine refuses that.
      const space = build === undefined ? ownNamespace : `${ownNamespace} ${build}`
      return ({ layout, node, namespace = '', unbounded, isMany, isUuid }) => {
        const ids = createGenerator({
          layout: chosen[layout] as unknown as typeof layouts.wide,
          engine,
          // The layout for numbers has no room for a node.
          ...(layout !== 'number' && { node }),
          namespace: space + namespace,
          ...(state !== undefined && { state: state() }),
          // The host must not remember ids of the future, nor keep a page for each of a thousand nodes.
          ...((unbounded || isMany) && { state: 'process' }),
          ...(unbounded && { onOverflow: 'advance', maxAheadMs: Number.MAX_SAFE_INTEGER }),
        })
        if (isView) return (ids as { with?(tags: object): Source }).with?.({ shard: 5 })
        return isUuid ? toUuids(ids) : (ids as Source)
      }
    },
  }
}

/** As layout `wide`, but the lower half of the node is a tag. */
export function taggedWide({ defineLayout }: Pick<typeof import('graupel'), 'defineLayout'>) {
  return defineLayout({
    name: 'tagged',
    epochMs: stamps.wide.epochMs,
    tickMs: 1,
    fields: [
      ['timestamp', 41],
      ['node', 3],
      ['shard', 3, 'tag?'],
      ['sequence', 16],
    ],
  })
}

const segmentsName = 'graupel-segments'

/** A step that no run uses up, because a timed loop never lets the event loop fetch another segment. */
const allNumbers = 2 ** 46

function segments(build?: string): Subject {
  return {
    name: segmentsName,
    title: 'graupel segments',
    group: 'graupel',
    only: [
      ...['next', 'next-string', 'next-number', 'fill', 'threads'].map((name) => `segment-${name}`),
      ...['latency-next', 'latency-async'],
    ],
    stamp: undefined,
    ...(build !== undefined && { build }),
    async load(handle) {
      const { createSegmentGenerator }: typeof import('graupel/segments') = await import(urlOf(build, 'segments'))
      const { memoryStore }: typeof import('graupel/stores') = await import(urlOf(build, 'stores'))
      const own = { store: memoryStore({ assumeOneProcess: true }), name: 'bench', step: allNumbers }
      const source = await createSegmentGenerator(handle === undefined ? own : { handle })
      return () => source as Source
    },
  }
}

function codecsOf({ decode, encodeId, layouts, timestampMsOf }: typeof import('graupel')): Codecs {
  return {
    encode: (id) => encodeId(id, 'base62'),
    decode: (id) => decode(id, layouts.twitter),
    // An earlier build lacks it.
    ...(timestampMsOf !== undefined && { timestampMsOf: (id) => timestampMsOf(id, layouts.twitter) }),
    timeOf: ({ timestampMs }) => timestampMs,
  }
}

/** Returns an empty object for a build without `observe`. */
function observerOf({ createGenerator }: typeof import('graupel'), engine: 'native' | 'js'): Codecs {
  const ids = createGenerator({ node: 1, namespace: `${ownNamespace} observes`, state: 'process', engine })
  return ids.observe === undefined ? {} : { observer: ids }
}

/** Returns an empty object for a build without masks. */
async function maskOf(build: string | undefined): Promise<Codecs> {
  if (build !== undefined && !existsSync(fileURLToPath(urlOf(build, 'mask')))) return {}
  const { createMask }: typeof import('graupel/mask') = await import(urlOf(build, 'mask'))
  return createMask(Uint8Array.from({ length: 32 }, (_, i) => i))
}

/** Returns an empty object for a build without kinds. */
async function kindsOf(build: string | undefined): Promise<Codecs> {
  if (build !== undefined && !existsSync(fileURLToPath(urlOf(build, 'kind')))) return {}
  const { defineKind }: typeof import('graupel/kind') = await import(urlOf(build, 'kind'))
  const { layouts }: typeof import('graupel') = await import(urlOf(build))
  const options = { prefix: 'ord', layout: layouts.twitter }
  const keys = { a: Uint8Array.from({ length: 32 }, (_, i) => i) }
  return { kinds: { typed: defineKind(options), opaque: defineKind({ ...options, keys }) } }
}

/** Makes UUIDs of the ids of a generator; of a build without UUIDs, nothing. */
async function uuidsOf(build: string | undefined) {
  if (build !== undefined && !existsSync(fileURLToPath(urlOf(build, 'uuid')))) return () => undefined
  const { createUuidGenerator, decodeUuid }: typeof import('graupel/uuid') = await import(urlOf(build, 'uuid'))
  return (ids: ReturnType<typeof import('graupel').createGenerator>): Source => {
    const uuids = createUuidGenerator({ ids })
    return {
      nextUuid: uuids.next,
      fillUuids: (array) => uuids.fill(array),
      idOfUuid: (uuid) => decodeUuid(uuid, ids.layout).id,
      close: () => uuids.close(),
    }
  }
}

function yardstick(name: string, title: string, source: Source): Subject {
  return { name, title, group: 'yardstick', load: async () => () => source }
}

function store(name: string, title: string, only?: readonly string[]): Subject {
  return { name, title, group: 'store', ...(only && { only }), load: async () => () => undefined }
}

function service(name: string, title: string, ...only: readonly string[]): Subject {
  const workloads = only.map((name) => (name.startsWith('latency-') ? name : `service-${name}`))
  return { name, title, group: 'service', only: workloads, load: async () => () => undefined }
}

const { randomUUID, randomUUIDv7 } = crypto as typeof crypto & { randomUUIDv7?: () => string }
const anId = 0x1a2b_3c4d_5e6f_7081n
const view = new BigUint64Array([anId, 0n])

/** All subjects, in the order of the table. A rival is imported only if it takes part. */
export const subjects: readonly Subject[] = [
  ...Object.keys(own).map((name) => ours(name)),
  segments(),
  // A Snowflake generator has to read the clock, or to find a way around it.
  yardstick('date-now', 'Date.now()', { next: Date.now }),
  // The lowest possible cost of an id that reaches JavaScript as a bigint. The write keeps the read in the
  // loop.
  yardstick('view-read', 'BigUint64Array[0]', {
    next: () => {
      view[1] = 0n
      return view[0]
    },
  }),
  // The lowest possible cost of an array of ids.
  yardstick('array-fill', 'BigUint64Array#fill', { fill: (array) => array.fill(anId) }),
  // 122 random bits, from a pool that Node refills in batches.
  yardstick('random-uuid', 'crypto.randomUUID()', { next: () => randomUUID(), nextUuid: () => randomUUID() }),
  {
    name: 'graupel-random-uuid',
    title: 'graupel without a node',
    group: 'yardstick',
    async load() {
      const { createRandomUuidGenerator }: typeof import('graupel/uuid') = await import(urlOf(undefined, 'uuid'))
      const { next, fill } = createRandomUuidGenerator()
      return () => ({ nextUuid: next, fillUuids: fill })
    },
  },
  // Since Node 26; without order within a millisecond.
  yardstick('random-uuid-v7', 'crypto.randomUUIDv7()', randomUUIDv7 === undefined ? {} : { nextUuid: randomUUIDv7 }),
  // measure/stores.ts reads the names. Only one client of each server takes part in a start of many
  // processes.
  store('memory', 'memory', ['lease-calls']),
  store('sqlite-libsql', 'SQLite, libsql', ['lease-calls']),
  store('redis-ioredis', 'Redis, ioredis'),
  store('redis-node-redis', 'Redis, node-redis', ['lease-calls']),
  store('postgres-pg', 'PostgreSQL, pg'),
  store('postgres-postgres.js', 'PostgreSQL, postgres.js', ['lease-calls']),
  store('mysql-mysql2', 'MariaDB, mysql2', ['lease-calls', 'lease-start']),
  store('mysql-mariadb', 'MariaDB, mariadb', ['lease-calls']),
  store('etcd-fetch', 'etcd', ['lease-calls', 'lease-start']),
  store('zookeeper-node-zookeeper-client', 'ZooKeeper, node-zookeeper-client', ['lease-calls', 'lease-start']),
  store('consul-fetch', 'Consul', ['lease-calls', 'lease-start']),
  // Uses the API server of the tests, which keeps everything in memory, unless variables name a cluster.
  store('kubernetes-fetch', 'Kubernetes (stand-in)', ['lease-calls', 'lease-start']),
  service(
    'graupel-server',
    'graupel-server',
    ...[
      'one',
      'one-tls',
      'one-16',
      'one-1',
      'count',
      'hundred',
      'thousand',
      'bytes',
      'memory',
      'resp',
      'resp-numbers',
      'resp-one',
      'latency-http',
      'latency-http-batch',
      'latency-resp',
      'latency-resp-batch',
    ],
  ),
  service('graupel-client', 'graupel/client', 'client', 'client-next', 'client-runs', 'latency-client'),
  ...rivals,
]
