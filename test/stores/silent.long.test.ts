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
import { dynamodbUrl } from './kinds/dynamodb.ts'
import { host, load, type Open, quiet } from './kinds/kind.ts'
import { kubernetesUrl } from './kinds/kubernetes.ts'
import { mongodbUrl } from './kinds/mongodb.ts'
import { azuriteConnection } from './kinds/object.ts'
import { startProxy } from './proxy.ts'

// A network that forgets connections, such as a NAT gateway or a virtual address whose host is dead, says
// nothing to either side.

/** Opens a store by its URL, with the only client that is installed. */
const byUrl =
  (urlOf: (port: number) => string, ...client: string[]): Open =>
  async (port) => {
    const { store, close } = await openStore(urlOf(port), { clientsOf: `${projectWith(...client)}/` })
    return { store, close }
  }

const redisUrl = (port: number) => `redis://${host}:${port}`
const postgresUrl = (port: number) => `postgres://postgres@${host}:${port}/postgres`
const mysqlUrl = (port: number) => `mysql://root@${host}:${port}/graupel`

const s3Url = (port: number) => `s3://ids?region=us-east-1&endpoint=http://${host}:${port}`
Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' })

/**
 * Every client that `openStore` knows, and the clients that the pages of the stores make, by the kind of the
 * server.
 */
const clients: Record<string, Record<string, Open>> = {
  redis: {
    ioredis: byUrl(redisUrl, 'ioredis'),
    'node-redis': byUrl(redisUrl, 'redis'),
    'valkey-glide': byUrl(redisUrl, '@valkey/valkey-glide'),
    async 'ioredis of the page'(port) {
      const { Redis } = load('ioredis')
      const client = quiet(new Redis(redisUrl(port), { socketTimeout: 3000 }))
      return { store: redisStore(client), close: () => client.disconnect() }
    },
  },
  postgres: {
    pg: byUrl(postgresUrl, 'pg'),
    'postgres.js': byUrl(postgresUrl, 'postgres'),
    async 'pg of the page'(port) {
      const { Pool } = load('pg')
      const pool = new Pool({ connectionString: postgresUrl(port), max: 2, query_timeout: 3000 })
      return { store: postgresStore(pool), close: () => pool.end() }
    },
  },
  mysql: { mysql2: byUrl(mysqlUrl, 'mysql2'), mariadb: byUrl(mysqlUrl, 'mariadb') },
  dynamodb: { 'aws-sdk': byUrl(dynamodbUrl, '@aws-sdk/client-dynamodb') },
  mongodb: { mongodb: byUrl(mongodbUrl, 'mongodb') },
  etcd: { fetch: byUrl((port) => `etcd://${host}:${port}`) },
  zookeeper: { 'node-zookeeper-client': byUrl((port) => `zookeeper://${host}:${port}`, 'node-zookeeper-client') },
  consul: { fetch: byUrl((port) => `consul://${host}:${port}`) },
  kubernetes: { fetch: byUrl(kubernetesUrl) },
  service: { fetch: byUrl((port) => `graupel+http://${host}:${port}`) },
  s3: { 'aws-sdk': byUrl(s3Url, '@aws-sdk/client-s3'), aws4fetch: byUrl(s3Url, 'aws4fetch') },
  azure: {
    async 'storage-blob'(port) {
      process.env['AZURE_STORAGE_CONNECTION_STRING'] = azuriteConnection(port)
      return byUrl(() => 'az://devstoreaccount1/ids', '@azure/storage-blob')(port)
    },
  },
  google: { 'google-cloud': byUrl((port) => `gs://ids?endpoint=http://${host}:${port}`, '@google-cloud/storage') },
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
