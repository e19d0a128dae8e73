// Ids on a node that is leased from a file of SQLite, for the processes of one host.
//
//   npm install graupel libsql
//   SQLITE_FILE=fleet.db node sqlite.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of them. better-sqlite3 and node:sqlite
// have the same calls.
import { subscribe } from 'node:diagnostics_channel'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { sqliteStore } from 'graupel/stores/sqlite'
import Database from 'libsql'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

const database = new Database(process.env.SQLITE_FILE ?? 'fleet.db')

const store = sqliteStore(database)
await store.setup() // creates its tables

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
    database.close()
  })
}
