// Ids on a node that is leased from PostgreSQL.
//
//   npm install graupel pg
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres node postgres.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of them, and stop the server meanwhile.
// The first lease after every start of the server takes 11 seconds: docs/leases.md says why.
import { subscribe } from 'node:diagnostics_channel'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { postgresStore } from 'graupel/stores/postgres'
import pg from 'pg'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

const connectionString = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
// For leases alone. A connection that goes silent for three seconds is replaced; without the limit for
// connecting, pool.end() would wait as long as the server hangs.
const pool = new pg.Pool({ connectionString, max: 2, query_timeout: 3000, connectionTimeoutMillis: 3000 })
pool.on('error', (error) => console.error(`PostgreSQL: ${error.message}`))

const store = postgresStore(pool)
await store.setup() // Creates its tables; console.log(store.ddl) shows the statements, if another user has to run them.

const lease = await acquireLease({ store })
const ids = createGenerator({ lease })

const timer = setInterval(() => {
  try {
    console.log(ids.nextString())
  } catch (error) {
    console.error(`${error.code}: ${error.message}`)
  }
}, 1000)

// Aborted by release(), and if the lease is lost and no other node is free: then restart the service.
lease.signal.addEventListener('abort', () => clearInterval(timer))

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await lease.release()
    await pool.end()
  })
}
