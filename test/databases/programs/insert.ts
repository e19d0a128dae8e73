import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { postgresStore } from 'graupel/stores/postgres'
import { load } from '../../stores/kinds/kind.ts'

// Inserts new rows beside the backfill of docs/databases.md, with ids of a leased node, until stdin ends.
// Then it prints how many rows it has inserted.
//
//   DATABASE_URL=postgres://… node --import tsx test/databases/programs/insert.ts

const { Pool } = load('pg')
const pool = new Pool({ connectionString: process.env['DATABASE_URL'] })
const lease = await acquireLease({ store: postgresStore(pool, { assumeDurable: true }), nodes: [0, 1022] })
const ids = createGenerator({ lease })
let isRunning = true
process.stdin.on('end', () => (isRunning = false)).resume()
console.log('ready')

let count = 0
while (isRunning) {
  const many = ids.take(20)
  await pool.query('INSERT INTO orders (created, id) SELECT now(), unnest($1::bigint[])', [many])
  count += many.length
}
console.log(count)
await lease.release()
await pool.end()
