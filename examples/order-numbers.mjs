// Order numbers that begin anew each day, none missing and none twice, from PostgreSQL.
//
//   npm install graupel pg
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres node order-numbers.mjs
//
// It prints five numbers, and the next start goes on after them. Start several of it at once. docs/numbers.md says what is promised.
import { createCounter } from 'graupel/segments'
import { postgresStore } from 'graupel/stores/postgres'
import pg from 'pg'

const connectionString = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const pool = new pg.Pool({ connectionString })
pool.on('error', (error) => console.error(`PostgreSQL: ${error.message}`))

const store = postgresStore(pool)
await store.setup() // Creates its tables; console.log(store.ddl) shows the statements for those who may not.

// The day begins at midnight of that offset, by the clock of the database.
const counter = await createCounter({
  store,
  name: 'orders',
  pattern: 'SO-{yyyyMMdd}-{count:6}',
  reset: 'day',
  timeZone: '+08:00',
})

/** A call that was rejected is made again: if its number was counted all the same, the next call gets it. */
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
