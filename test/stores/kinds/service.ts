import { join } from 'node:path'
import { serviceStore } from '../../../src/stores/service.js'
import { repository } from '../../support/documents.ts'
import { type Server, start } from '../servers.ts'
import { host, missingProgram, type Open, type ServerKind } from './kind.ts'
import { startRedis } from './redis.ts'

/** Starts a graupel-server that lends leases, with its embedded database or the store of the flags. */
export function startService(...flags: string[]): Promise<Server> {
  return start({
    program: process.execPath,
    words: (port, folder) => [
      join(repository, 'server/dist/main.js'),
      ...['--port', `${port}`, '--leases', '--log-level', 'error'],
      ...(flags.includes('--store') ? [] : ['--data', folder]),
      ...flags,
    ],
    ready: 'graupel-server http',
  })
}

/**
 * Starts a graupel-server before a Redis that forgets nothing while the test runs. With the embedded
 * database, the disk would set the pace: a write of SQLite takes 20 ms on some.
 */
async function startBeforeRedis(): Promise<Server> {
  const redis = await startRedis()
  const server = await startService('--store', `redis://${host}:${redis.port}`, '--assume-durable')
  return {
    ...server,
    async stop() {
      await server.stop()
      await redis.stop()
    },
  }
}

const serviceClients: Record<string, Open> = {
  async fetch(port) {
    return { store: serviceStore({ url: `http://${host}:${port}` }), close() {} }
  },
}

export const service: ServerKind = {
  name: 'graupel-server',
  missing: () => missingProgram('redis-server', '--version', 'redis-server'),
  start: startBeforeRedis,
  url: (port) => `graupel+http://${host}:${port}`,
  clients: serviceClients,
  isFetched: true,
}
