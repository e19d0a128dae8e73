import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkStore } from '../../src/cli/store-check.js'
import { storeContract } from '../../src/stores/testing.js'
import { describeWith } from '../support/needs.ts'
import { eventually } from '../support/until.ts'
import { describeServers } from './kinds/describe.ts'
import type { Open, Opened } from './kinds/kind.ts'
import { clusterClients, sentinelClients } from './kinds/redis.ts'
import { callsOf } from './real-time.ts'
import { startCluster, startWatched, tell } from './redis-servers.ts'
import type { Server } from './servers.ts'

// The contract of stores on real servers, by each client that the documents name. The servers run side by
// side.

/** Calls a block of tests for each client, with the store that the client has opened on a server. */
function describeClients(
  clients: Readonly<Record<string, Open>>,
  port: () => number,
  body: (opened: () => Opened) => void,
): void {
  describe.each(Object.entries(clients))('by %s', (_name, open) => {
    let opened: Opened
    beforeAll(async () => {
      opened = await open(port())
      await eventually<unknown>(() => (opened.store.setup ?? opened.store.nowMs)?.())
    })
    afterAll(() => opened?.close())

    for (const { name, run } of storeContract(async () => opened.store)) it(name, run)
    body(() => opened)
  })
}

/** The place of the records of a store with its defaults. */
const placeOf: Record<string, RegExp> = {
  redis: /^server 127\.0\.0\.1:\d+ \(run_id \w{40}\), database 0, keys \{graupel\}:$/,
  postgres: /^server 127\.0\.0\.1:\d+ \(system \d+\), database postgres, schema public, table graupel_store$/,
  mysql: /^server \S+:\d+ \(server_id \d+\), database graupel, table graupel_store$/,
  dynamodb:
    /^(table arn:aws:dynamodb:\S+:table\/graupel_store \([\w-]+\)|region eu-west-1, account unknown, table graupel_store)$/,
  mongodb: /^replica set rs0 \(127\.0\.0\.1:\d+\), database graupel, collection graupel_store$/,
  etcd: /^cluster \d+, keys graupel\/$/,
  zookeeper: /^servers 127\.0\.0\.1:\d+, nodes below \/graupel$/,
  consul: /^datacenter \w+, keys graupel\/$/,
  service: /^server 127\.0\.0\.1:\d+ \(run_id \w{40}\), database 0, keys \{graupel\}:$/,
  kubernetes: /^API http\S+, namespace \w+, Leases \w+\.…$/,
  s3: /^bucket (ids )?of S3 at http:\/\/127\.0\.0\.1:\d+(\/ids)?, objects graupel\/$/,
  azure: /^container http:\/\/127\.0\.0\.1:\d+\/devstoreaccount1\/ids, objects graupel\/$/,
  google: /^bucket ids at http:\/\/127\.0\.0\.1:\d+, objects graupel\/$/,
}

describeServers('a store', (kind, { clients }, server) => {
  describeClients(
    clients,
    () => server().port,
    (opened) => {
      it('says where its records are', async () => {
        expect(await opened().store.place?.()).toMatch(placeOf[kind] as RegExp)
      })

      it('lists thirty records without a warning of Node', async () => {
        const warnings: Error[] = []
        // The other kinds of servers are tested at the same time.
        const listen = (warning: Error) =>
          void (warning.name === 'MaxListenersExceededWarning' && warnings.push(warning))
        process.on('warning', listen)
        const folder = `contract-${crypto.randomUUID()}/`
        const { store } = opened()
        await Promise.all(Array.from({ length: 30 }, (_, i) => store.write(`${folder}${i}`, 'x', undefined)))
        expect(await store.list(folder, new AbortController().signal)).toHaveLength(30)
        await new Promise(setImmediate)
        process.off('warning', listen)
        expect(warnings).toEqual([])
      })

      it('has no record of a check afterwards', async () => {
        const { store } = opened()
        const folders = new Set<string>()
        const noting: typeof store = {
          ...store,
          write(key, ...rest) {
            folders.add(key.slice(0, key.lastIndexOf('/') + 1))
            return store.write(key, ...rest)
          },
        }
        const open = { store, calls: callsOf(noting), shown: '', hide: String, damage: async () => [] }
        const { checks } = await checkStore(open, new AbortController().signal, async () => {})
        expect(checks.filter(({ state }) => state === 'bad')).toEqual([])
        expect(folders.size).toBeGreaterThan(10)
        for (const folder of folders) expect(await store.list(folder)).toEqual([])
      })

      it('has another name for its life after a restart if it may forget', async () => {
        const { store } = opened()
        if (store.durable) return expect(store.incarnation).toBeUndefined()
        const before = await store.incarnation?.()
        await server().restart('SIGKILL')
        const after = await eventually(() => store.incarnation?.())
        expect(after).toMatch(/\S/)
        expect(after).not.toBe(before)
      })
    },
  )
})

describeWith(['redis'], 'Redis Cluster', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster?.stop())

  describeClients(
    clusterClients,
    () => (cluster.servers[0] as Server).port,
    (opened) => {
      it('keeps every key of a prefix on one primary, and reports the life of that primary', async () => {
        const { store } = opened()
        for (let i = 0; i < 20; i++) await store.write(`folder-${i}/1`, 'x', undefined)
        await store.add?.('folder/sum', 1n)
        const about = await Promise.all(cluster.servers.map(({ port }) => tell(port, ['DBSIZE'], ['INFO', 'server'])))
        const used = about.filter(([size]) => (size as number) > 0)
        expect(used.length).toBe(1)
        const life = /run_id:(\w+)/.exec(`${used[0]?.[1]}`)?.[1]
        expect(await store.incarnation?.()).toContain(life)
      })
    },
  )
})

describe('after a failover', () => {
  describeWith(['redis'], 'by Sentinel', () => {
    describe.each(Object.entries(sentinelClients))('%s', (_name, open) => {
      it("goes on with the replica's data, and reports another life", async () => {
        const servers = await startWatched()
        try {
          const { store, close } = await open(servers.sentinel.port)
          const version = await eventually(() => store.write('folder/1', 'before', undefined))
          const before = await store.incarnation?.()
          await tell(servers.primary.port, ['WAIT', '1', '0'])
          await servers.primary.signal('SIGKILL')
          const after = await eventually(async () => {
            const life = await store.incarnation?.(AbortSignal.timeout(5000))
            if (life === before) throw new Error('it is the former primary')
            return life
          })
          expect(after).toMatch(/\S/)
          expect(await store.read('folder/1')).toEqual({ key: 'folder/1', value: 'before', version })
          expect(await store.write('folder/1', 'after', version)).toBeDefined()
          expect((await store.read('folder/1'))?.value).toBe('after')
          await close()
        } finally {
          await servers.stop()
        }
      })
    })
  })
})
