// Ids on a node that is leased from MySQL or MariaDB.
//
//   npm install graupel mysql2
//   MYSQL_URL=mysql://root@127.0.0.1:3306/test node mysql.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of them, and stop the server meanwhile.
// The first lease after every start of the server takes 11 seconds: docs/leases.md says why.
import { subscribe } from 'node:diagnostics_channel'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { mysqlStore } from 'graupel/stores/mysql'
import mysql from 'mysql2/promise'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

const pool = mysql.createPool(process.env.MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/test')

const store = mysqlStore(pool)
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
    process.exit() // pool.end() would wait for a server that hangs
  })
}
