import { rangeError } from '../../core/errors.js'
import { leafAllocStore } from '../leaf-alloc.js'
import type { MysqlPool } from '../mysql.js'
import { decoded } from '../record.js'
import { type Client, connectMs, ignore, type Names, type Opened, orClosed, type StoreKind } from './kind.js'
import type { StoreUrl } from './url.js'

/** The parts of a pool that are used beside its statements. */
type Pool = MysqlPool & {
  on(event: 'error', listener: () => void): unknown
  getConnection(): Promise<{ release(): unknown }>
  end(): Promise<void>
}

const mysql2: Client = {
  name: 'mysql2',
  // The pool of this module has callbacks; its promise() returns the same pool with promises.
  open: (loaded, url, { names }) => open(loaded.createPool(settingsOf(url)).promise(), names),
}

const mariadb: Client = {
  name: 'mariadb',
  // It does not end the connection of a call that is given up. Without a limit, two silent ones would be all
  // of the pool.
  open: (loaded, url, { names }) =>
    open(loaded.createPool({ ...settingsOf(url), acquireTimeout: connectMs, socketTimeout: 10_000 }), names),
}

async function open(pool: Pool, names: Names): Promise<Opened> {
  // A connection may break while it is idle.
  pool.on('error', ignore)
  const close = () => pool.end()
  const { mysqlStore } = await import('../mysql.js')
  return orClosed(close, async () => {
    const store = mysqlStore(pool, names)
    try {
      const connection = await pool.getConnection()
      await connection.release()
    } catch (error) {
      // The error of mariadb has the reason as its cause.
      throw (error as Error).cause ?? error
    }
    return { store, leafAlloc: (table) => leafAllocStore(pool, table === undefined ? {} : { table }), close }
  })
}

/**
 * Reads the settings from the URL, because each client supports other schemes and parameters. @throws
 * RangeError
 */
function settingsOf(url: StoreUrl) {
  if (!url.rest.startsWith('//') || !URL.canParse(url.text)) {
    const rule = 'with %40 for an @, and the like'
    throw rangeError(
      'ERR_OPTION_INVALID',
      `store is no URL of a database; write ${url.scheme}//USER:PASSWORD@HOST:3306/DATABASE, ${rule}`,
      'store',
    )
  }
  const { ssl } = url.parameters(['ssl'])
  // Otherwise another word for TLS would give a connection without TLS.
  if (ssl !== undefined && ssl !== 'true' && ssl !== 'false') {
    throw rangeError(
      'ERR_OPTION_INVALID',
      'store has an ssl that is not true or false; write ssl=true for TLS',
      'store',
    )
  }
  const { hostname, port, username, password, pathname } = new URL(url.text)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 3306),
    user: decoded(username),
    password: decoded(password),
    database: decoded(pathname.slice(1)),
    connectTimeout: connectMs,
    connectionLimit: 2,
    ...(ssl === 'true' && { ssl: {} }),
  }
}

export const mysqlKind: StoreKind = {
  schemes: ['mysql:', 'mariadb:'],
  named: 'table',
  // The code for a missing table (MySQL, error reference).
  isTableMissing: ({ code }) => code === 'ER_NO_SUCH_TABLE',
  clients: [mysql2, mariadb],
}
