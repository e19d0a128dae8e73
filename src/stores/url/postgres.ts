import { type Client, connectMs, ignore, orClosed, reconnectMs, type StoreKind, silentMs } from './kind.js'

const form = 'USER:PASSWORD@HOST:5432/DATABASE'

const pg: Client = {
  name: 'pg',
  async open({ Pool }, url, { names }) {
    url.check(form)
    const { postgresStore } = await import('../postgres.js')
    // Each connection of the pool that has gone silent costs a call, so there are two.
    const limits = { connectionTimeoutMillis: connectMs, query_timeout: silentMs, max: 2 }
    const pool = new Pool({ connectionString: url.text, ...limits })
    // A connection may break while it is idle.
    pool.on('error', ignore)
    const close = () => pool.end()
    return orClosed(close, async () => {
      const store = postgresStore(pool, names)
      await pool.query('SELECT 1')
      return { store, close }
    })
  },
}

const postgresJs: Client = {
  name: 'postgres',
  // It also stays silent after a reset: the connection sends nothing in its next dozen attempts if it was
  // about to write (postgres.js 3.4.9, pull request 1209).
  staysSilent: true,
  async open(loaded, url, { names }) {
    url.check(form)
    const { postgresStore } = await import('../postgres.js')
    const sql = (loaded.default ?? loaded)(url.text, {
      connect_timeout: connectMs / 1000,
      max: 2,
      onnotice: ignore,
      // If a connection is reset while it asks for types, the process would end with an uncaught error.
      fetch_types: false,
      // By default the pauses between two attempts to connect grow to 20 s.
      backoff: reconnectMs / 1000,
    })
    const close = () => sql.end({ timeout: 1 })
    return orClosed(close, async () => {
      const store = postgresStore(sql, names)
      await sql.unsafe('SELECT 1')
      return { store, close }
    })
  },
}

export const postgresKind: StoreKind = {
  schemes: ['postgres:', 'postgresql:'],
  named: 'table',
  // The code for an undefined table (PostgreSQL, appendix A).
  isTableMissing: ({ code }) => code === '42P01',
  clients: [pg, postgresJs],
}
