import { createRequire } from 'node:module'
import { sqliteStore } from '../../../src/stores/sqlite.js'
import { load, type Open, type Opened } from './kind.ts'

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
  'node:sqlite': (file) => openByNode(file, {}),
  'node:sqlite, rows as arrays': (file) => openByNode(file, { returnArrays: true }),
}

/** Opens a database by `node:sqlite`, which Node has from 22.13 on. */
async function openByNode(file: string, options: object): Promise<Opened> {
  const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite')
  const database = new DatabaseSync(file, options)
  return { store: sqliteStore(database), close: () => database.close() }
}
