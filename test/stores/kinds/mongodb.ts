import { join } from 'node:path'
import { mongodbStore } from '../../../src/stores/mongodb.js'
import { repository } from '../../support/documents.ts'
import { type Server, start } from '../servers.ts'
import { host, installClients, load, type Open, type ServerKind } from './kind.ts'

/** Starts the stand-in for MongoDB. @param more - No argument makes it a server without a replica set. */
export function startMongodb(...more: string[]): Promise<Server> {
  installClients()
  const program = join(repository, 'test/stores/programs/mongodb-stand-in.ts')
  return start({
    program: process.execPath,
    words: (port, folder) => [
      ...['--import', join(repository, 'node_modules/tsx/dist/esm/index.mjs'), program, `${port}`, folder, ...more],
    ],
  })
}

/** Without a search for the other members, because there may be a proxy before the server. */
export function mongodbUrl(port: number): string {
  return `mongodb://${host}:${port}/graupel?directConnection=true`
}

/** @param options - Options of the client. */
export function mongodbClient(port: number, options: object = {}) {
  const { MongoClient } = load('mongodb')
  return new MongoClient(mongodbUrl(port), options)
}

const mongodbClients: Record<string, Open> = {
  async mongodb(port) {
    const client = mongodbClient(port)
    return { store: mongodbStore(client.db()), close: () => client.close() }
  },
}

export const mongodb: ServerKind = {
  name: 'MongoDB (a stand-in)',
  missing: () => undefined,
  start: () => startMongodb('rs0'),
  url: mongodbUrl,
  clients: mongodbClients,
  recovers: true,
}
