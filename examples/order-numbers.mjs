// Order numbers from PostgreSQL that begin again each day, without gaps and without duplicates.
//
//   npm install graupel pg
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres node order-numbers.mjs
//
// It prints five numbers, and the next start continues after them. Start several of them at once.
// docs/numbers.md has the guarantees.
import { createCounter } from 'graupel/segments'
import { postgresStore } from 'graupel/stores/postgres'
import pg from 'pg'

const connectionString = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const pool = new pg.Pool({ connectionString, max: 2, query_timeout: 3000, connectionTimeoutMillis: 3000 })
pool.on('error', (error) => console.error(`PostgreSQL: ${error.message}`))

const store = postgresStore(pool)
await store.setup() // Creates its tables; console.log(store.ddl) shows the statements, if another user has to run them.

// The day begins at midnight of this offset, by the clock of the database.
const counter = await createCounter({
  store,
  name: 'orders',
  pattern: 'SO-{yyyyMMdd}-{count:6}',
  reset: 'day',
  timeZone: '+08:00',
})

/**
 * Repeats a call that was rejected. If the call was counted in spite of its error, the next call gets its
 * number.
 */
async function orderNumber(attempts = 10) {
  try {
    return await counter.next()
  } catch (error) {
    if (error.code !== 'ERR_STORE_UNAVAILABLE' || attempts === 1) throw error
    console.error(error.message)
    return orderNumber(attempts - 1)
  }
}

// Three at once, by one write, and two in a row for one customer.
for (const number of await Promise.all([orderNumber(), orderNumber(), orderNumber()])) console.log(number)
for (const number of await counter.take(2)) console.log(number)

counter.close()
await pool.end()
