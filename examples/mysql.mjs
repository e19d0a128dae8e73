// Ids on a node that is leased from MySQL or MariaDB.
//
//   npm install graupel mysql2
//   MYSQL_URL=mysql://root@127.0.0.1:3306/test node mysql.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of it; stop the server meanwhile. The first one of all waits
// for 11 seconds, and so does one after a restart of the server: docs/leases.md says why.
import { subscribe } from 'node:diagnostics_channel'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { mysqlStore } from 'graupel/stores/mysql'
import mysql from 'mysql2/promise'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

const pool = mysql.createPool(process.env.MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/test')

const store = mysqlStore(pool)
await store.setup() // Creates its tables; console.log(store.ddl) shows the statements for those who may not.

const lease = await acquireLease({ store })
const ids = createGenerator({ lease })

const timer = setInterval(() => {
  try {
    console.log(ids.nextString())
  } catch (error) {
    console.error(`${error.code}: ${error.message}`)
  }
}, 1000)

// Aborted when it was released, and when it was lost and no other node could be had: restart the service then.
lease.signal.addEventListener('abort', () => clearInterval(timer))

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await lease.release()
    await pool.end()
  })
}
