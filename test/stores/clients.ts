import { createRequire } from 'node:module'
import { join } from 'node:path'
import { postgresStore } from '../../src/stores/postgres.js'
import { redisStore } from '../../src/stores/redis.js'
import { sqliteStore } from '../../src/stores/sqlite.js'
import type { Store } from '../../src/stores/store.js'
import { installOnce, repository } from '../package/consumer.ts'

// Every client that the documents name, as a user makes it: with its defaults.

export interface Opened {
  readonly store: Store & { setup?(): Promise<void> }
  /** Ends the client. */
  close(): unknown
}

/** @param at - The port of a server, or the file of a database. */
export type Open<At = number> = (at: At) => Promise<Opened>

const host = '127.0.0.1'

export const redisClients: Record<string, Open> = {
  async ioredis(port) {
    const { Redis } = load('ioredis')
    const client = quiet(new Redis({ port, host }))
    return { store: redisStore(client), close: () => client.disconnect() }
  },
  async 'node-redis'(port) {
    const client = quiet(load('redis').createClient({ url: `redis://${host}:${port}` }))
    await client.connect()
    return { store: redisStore(client), close: () => client.destroy() }
  },
  async 'valkey-glide'(port) {
    const { GlideClient } = load('@valkey/valkey-glide')
    const client = await GlideClient.createClient({ addresses: [{ host, port }] })
    return { store: redisStore(client), close: () => client.close() }
  },
}

export const clusterClients: Record<string, Open> = {
  async ioredis(port) {
    const { Cluster } = load('ioredis')
    const client = quiet(new Cluster([{ port, host }]))
    return { store: redisStore(client), close: () => client.disconnect() }
  },
  async 'node-redis'(port) {
    const client = quiet(load('redis').createCluster({ rootNodes: [{ url: `redis://${host}:${port}` }] }))
    await client.connect()
    return { store: redisStore(client), close: () => client.destroy() }
  },
  async 'valkey-glide'(port) {
    const { GlideClusterClient } = load('@valkey/valkey-glide')
    const client = await GlideClusterClient.createClient({ addresses: [{ host, port }] })
    return { store: redisStore(client), close: () => client.close() }
  },
}

/** By the port of a sentinel, which knows the primary as `fleet`. */
export const sentinelClients: Record<string, Open> = {
  async ioredis(port) {
    const { Redis } = load('ioredis')
    const client = quiet(new Redis({ sentinels: [{ host, port }], name: 'fleet' }))
    return { store: redisStore(client), close: () => client.disconnect() }
  },
  async 'node-redis'(port) {
    const client = quiet(load('redis').createSentinel({ name: 'fleet', sentinelRootNodes: [{ host, port }] }))
    await client.connect()
    return { store: redisStore(client), close: () => client.destroy() }
  },
}

export const postgresClients: Record<string, Open> = {
  async pg(port) {
    const { Pool } = load('pg')
    const client = quiet(new Pool({ port, host, user: 'postgres' }))
    return { store: postgresStore(client), close: () => client.end() }
  },
  async 'postgres.js'(port) {
    const client = load('postgres')({ port, host, user: 'postgres' })
    return { store: postgresStore(client), close: () => client.end({ timeout: 5 }) }
  },
}

export const sqliteClients: Record<string, Open<string>> = {
  async libsql(file) {
    const Database = load('libsql')
    const database = new Database(file)
    return { store: sqliteStore(database), close: () => database.close() }
  },
  async 'better-sqlite3'(file) {
    const Database = load('better-sqlite3', 'better-sqlite3')
    const database = new Database(file)
    return { store: sqliteStore(database), close: () => database.close() }
  },
  /** Only from Node 22.13 on. */
  async 'node:sqlite'(file) {
    const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite')
    const database = new DatabaseSync(file)
    return { store: sqliteStore(database), close: () => database.close() }
  },
}

/** A client's module, which is installed first if need be. */
export function load(name: string, folder = 'clients') {
  // What has to be compiled need not be fast.
  const variables = { CFLAGS: '-O0', CXXFLAGS: '-O0' }
  const flags = folder === 'clients' ? ['--ignore-scripts'] : []
  installOnce(`test/stores/${folder}`, flags, variables)
  return createRequire(join(repository, 'test/stores', folder, 'package.json'))(name)
}

/** Without a listener, an error of the connection would be one that is not caught; node-redis does not connect again. */
function quiet<T extends { on(event: string, listener: () => void): unknown }>(client: T): T {
  client.on('error', () => {})
  return client
}
