import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { redisStore } from '../../../src/stores/redis.js'
import { type Server, start } from '../servers.ts'
import { host, load, missingProgram, type Open, quiet, type ServerKind } from './kind.ts'

export function startRedis(...more: string[]): Promise<Server> {
  const words = (port: number, folder: string) => [
    ...['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes'],
    ...more,
  ]
  return start({ program: 'redis-server', words })
}

/** Starts a sentinel that watches a primary under the name `fleet`, and fails over on its own. */
export function startSentinel({ port }: Pick<Server, 'port'>, downAfterMs = 500): Promise<Server> {
  const configuration = `sentinel monitor fleet 127.0.0.1 ${port} 1
sentinel down-after-milliseconds fleet ${downAfterMs}
sentinel failover-timeout fleet 2000
`
  // A sentinel writes its discoveries to its configuration file.
  return start({
    program: 'redis-server',
    words: (port, folder) => [join(folder, 'sentinel.conf'), '--sentinel', '--port', `${port}`, '--bind', '127.0.0.1'],
    prepare: (folder) => writeFileSync(join(folder, 'sentinel.conf'), configuration),
  })
}

export const redisClients: Record<string, Open> = {
  async ioredis(port) {
    const { Redis } = load('ioredis')
    const client = quiet(new Redis({ port, host }))
    return { store: redisStore(client), close: () => client.disconnect() }
  },
  async 'node-redis'(port) {
    const client = load('redis').createClient({ url: `redis://${host}:${port}` })
    await client.connect()
    return { store: redisStore(client), close: () => client.destroy() }
  },
  async 'valkey-glide'(port) {
    const { GlideClient, Logger } = load('@valkey/valkey-glide')
    // The client writes to stdout when a server is slow, and a test's process reports its results on stdout.
    Logger.init('off')
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

/** Clients that are opened by the port of a sentinel, which knows the primary as `fleet`. */
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

export const redis: ServerKind = {
  name: 'Redis',
  missing: () => missingProgram('redis-server', '--version', 'redis-server'),
  start: () => startRedis(),
  url: (port) => `redis://${host}:${port}`,
  clients: redisClients,
  resending: ['ioredis'],
}
