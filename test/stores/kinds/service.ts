import { join } from 'node:path'
import { serviceStore } from '../../../src/stores/service.js'
import { repository } from '../../support/documents.ts'
import { type Server, start } from '../servers.ts'
import { host, type Open, type ServerKind } from './kind.ts'

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

const serviceClients: Record<string, Open> = {
  async fetch(port) {
    return { store: serviceStore({ url: `http://${host}:${port}` }), close() {} }
  },
}

export const service: ServerKind = {
  name: 'graupel-server',
  missing: () => undefined,
  start: () => startService(),
  clients: serviceClients,
  isFetched: true,
}
