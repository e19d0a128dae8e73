import { describe, expect, it } from 'vitest'
import { createGenerator } from '../../src/index.js'
import { acquireLease } from '../../src/lease/index.js'
import { postgresStore } from '../../src/stores/postgres.js'
import { redisStore } from '../../src/stores/redis.js'
import { openStore } from '../../src/stores/url/index.js'
import { projectWith } from '../cli/fleet.ts'
import { freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { eventually, until } from '../support/until.ts'
import { describeServers } from './kinds/describe.ts'
import { serverKinds } from './kinds/index.ts'
import { load, type Open, quiet, type ServerKind } from './kinds/kind.ts'
import { postgres } from './kinds/postgres.ts'
import { redis } from './kinds/redis.ts'
import { startProxy } from './proxy.ts'

// A network that forgets connections, such as a NAT gateway or a virtual address whose host is dead, says
// nothing to either side.

/** Opens a store by its URL, with the only client that is installed. */
const byUrl =
  (kind: keyof typeof serverKinds, ...client: string[]): Open =>
  async (port) => {
    const { url, variables } = serverKinds[kind] as ServerKind
    Object.assign(process.env, variables?.(port))
    const { store, close } = await openStore(url(port), { clientsOf: `${projectWith(...client)}/` })
    return { store, close }
  }

/**
 * Every client that `openStore` knows, and the clients that the pages of the stores make, by the kind of the
 * server.
 */
const clients: Record<string, Record<string, Open>> = {
  redis: {
    ioredis: byUrl('redis', 'ioredis'),
    'node-redis': byUrl('redis', 'redis'),
    'valkey-glide': byUrl('redis', '@valkey/valkey-glide'),
    async 'ioredis of the page'(port) {
      const { Redis } = load('ioredis')
      const client = quiet(new Redis(redis.url(port), { socketTimeout: 3000 }))
      return { store: redisStore(client), close: () => client.disconnect() }
    },
  },
  postgres: {
    pg: byUrl('postgres', 'pg'),
    'postgres.js': byUrl('postgres', 'postgres'),
    async 'pg of the page'(port) {
      const { Pool } = load('pg')
      const pool = new Pool({
        connectionString: postgres.url(port),
        max: 2,
        query_timeout: 3000,
        connectionTimeoutMillis: 3000,
      })
      return { store: postgresStore(pool), close: () => pool.end() }
    },
  },
  mysql: { mysql2: byUrl('mysql', 'mysql2'), mariadb: byUrl('mysql', 'mariadb') },
  dynamodb: { 'aws-sdk': byUrl('dynamodb', '@aws-sdk/client-dynamodb') },
  mongodb: { mongodb: byUrl('mongodb', 'mongodb') },
  etcd: { fetch: byUrl('etcd') },
  zookeeper: { 'node-zookeeper-client': byUrl('zookeeper', 'node-zookeeper-client') },
  consul: { fetch: byUrl('consul') },
  kubernetes: { fetch: byUrl('kubernetes') },
  service: { fetch: byUrl('service') },
  s3: { 'aws-sdk': byUrl('s3', '@aws-sdk/client-s3'), aws4fetch: byUrl('s3', 'aws4fetch') },
  azure: { 'storage-blob': byUrl('azure', '@azure/storage-blob') },
  google: { 'google-cloud': byUrl('google', '@google-cloud/storage') },
}

describeServers('a lease whose connections go silent', (kind, { isElsewhere }, server) => {
  describe.skipIf(isElsewhere).each(Object.entries(clients[kind] ?? {}))('by %s', (_name, open) => {
    // Without limits of its own, a client would wait for the connection for a quarter of an hour.
    it('is renewed by new connections', async () => {
      const proxy = await startProxy(server().port)
      const { store, close } = await open(proxy.port)
      try {
        await store.setup?.()
        // Opens a connection. The calls of a lease wait for that no longer than their limits.
        await eventually(() => store.read('groups/none'))
        const lease = await acquireLease({ store, namespace: freshNamespace() })
        const ids = createGenerator({ lease, maxWaitMs: 10_000 })
        const made = ids.take(100)
        // The second round finds that the new connections are watched, too.
        for (let round = 0; round < 2; round++) {
          await until(() => Date.now() - lease.stats().renewedMs < 500)
          proxy.silence()
          const silentMs = Date.now()
          await until(() => lease.stats().renewedMs > silentMs + 1000)
          made.push(await ids.nextAsync())
        }
        expect(isAscending(made)).toBe(true)
        await lease.release()
      } finally {
        await close()
        proxy.close()
      }
    })
  })
})
