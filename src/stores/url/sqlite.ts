import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { GraupelError, rangeError } from '../../core/errors.js'
import type { SqliteDatabase } from '../sqlite.js'
import { type Client, connectMs, type Opened, type OpenOptions, orClosed, type StoreKind } from './kind.js'
import type { StoreUrl } from './url.js'

type Database = new (path: string) => SqliteDatabase & { close(): void }

const libsql: Client = {
  name: 'libsql',
  open: async (loaded, url, options) => open(loaded.default ?? loaded, url, options),
}

const betterSqlite: Client = {
  name: 'better-sqlite3',
  open: async (loaded, url, options) => open(loaded.default ?? loaded, url, options),
}

const nodeSqlite: Client = {
  name: 'node:sqlite',
  open: async ({ DatabaseSync }, url, options) => open(DatabaseSync, url, options),
}

async function open(Database: Database, url: StoreUrl, { names, mayMake }: OpenOptions): Promise<Opened> {
  const { sqliteStore } = await import('../sqlite.js')
  const path = pathOf(url)
  if (!mayMake && !existsSync(path)) {
    const message = `${url.shown} cannot be opened: there is no such file`
    throw new GraupelError('ERR_STORE_UNAVAILABLE', message, { option: 'create' })
  }
  const database = new Database(path)
  // PRAGMA synchronous reads the file, which another process may have locked. Afterwards the store waits for
  // locks by itself, because a timeout blocks the thread.
  const timeout = (ms: number) => `PRAGMA busy_timeout = ${ms}`
  const close = () => database.close()
  // Writes survive a loss of power, whatever the client's default is. The journal mode stays: WAL takes a
  // seventh of the time, but a backup of the open file lacks the writes in the WAL file, so numbers would
  // repeat.
  return orClosed(close, () => {
    database.exec(`${timeout(connectMs)}; PRAGMA synchronous = FULL; ${timeout(0)}`)
    const store = sqliteStore(database, names)
    return { store, damage: () => store.damage(), close }
  })
}

/** @throws RangeError `ERR_OPTION_INVALID` */
function pathOf({ rest }: StoreUrl): string {
  const path = rest.startsWith('///') ? rest.slice(2) : rest
  // Without a path, and with :memory:, no other process sees the database. For libsql, a path with a scheme
  // is a server.
  if (path === '' || path === ':memory:' || path.startsWith('//')) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      'store has no path of a file; write sqlite: and the path, such as sqlite:fleet.db or sqlite:/var/lib/app/fleet.db',
      'store',
    )
  }
  return resolve(path)
}

export const sqliteKind: StoreKind = {
  schemes: ['sqlite:'],
  named: 'table',
  isTableMissing: ({ message }) => `${message}`.includes('no such table'),
  clients: [libsql, betterSqlite, nodeSqlite],
}
