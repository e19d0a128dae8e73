// Orders in PostgreSQL by postgres.js, with ids as their primary key.
//
//   npm install graupel postgres
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres node postgres.mjs
//
// It makes a table, inserts 2001 orders, and prints one of them and two pages of the newest.
// docs/databases.md explains it.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { composeId, createGenerator, layouts } from 'graupel'
import postgres from 'postgres'

// A fixed node is for a single process. Several processes lease theirs, as in ../postgres.mjs.
const ids = createGenerator({ node: 7 }) // each host needs its own number

const url = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const sql = postgres(url, { onnotice() {} })
await sql`CREATE TABLE IF NOT EXISTS orders (id BIGINT PRIMARY KEY, item TEXT NOT NULL)`

// One row. postgres.js reads BIGINT as a string, which is what JSON needs.
const id = ids.next()
await sql`INSERT INTO orders (id, item) VALUES (${id}, 'tea')`
const [order] = await sql`SELECT id, item FROM orders WHERE id = ${id}`
console.log(JSON.stringify(order))

// Many rows by one statement, up to 65 533 values.
const rows = ids.take(1000).map((id, index) => ({ id, item: `bread ${index}` }))
await sql`INSERT INTO orders ${sql(rows)}`

// Any number of rows, by COPY.
const lines = ids.take(1000).map((id, index) => `${id}\tmilk ${index}\n`)
await pipeline(Readable.from(lines), await sql`COPY orders (id, item) FROM STDIN`.writable())

// The orders of the last hour, the newest first, three a page. The last id of a page leads to the next one.
const hourAgo = composeId({ timestampMs: Date.now() - 3_600_000, node: 0 }, layouts.twitter)
function page(before = 2n ** 63n - 1n) {
  return sql`SELECT id, item FROM orders WHERE id >= ${hourAgo} AND id < ${before} ORDER BY id DESC LIMIT 3`
}
const newest = await page()
console.log(JSON.stringify(newest))
console.log(JSON.stringify(await page(newest.at(-1).id)))

await sql.end()
