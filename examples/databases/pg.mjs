// Orders in PostgreSQL by pg, with ids as their primary key.
//
//   npm install graupel pg
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres node pg.mjs
//
// It makes a table, inserts 1001 orders, and prints one of them and two pages of the newest.
// docs/databases.md explains it.
import { composeId, createGenerator, layouts } from 'graupel'
import pg from 'pg'

// A fixed node is for a single process. Several processes lease theirs, as in ../postgres.mjs.
const ids = createGenerator({ node: 7 }) // each host needs its own number

const connectionString = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const pool = new pg.Pool({ connectionString })
pool.on('error', console.error) // a connection that has ended while it was idle; the pool makes another
await pool.query('CREATE TABLE IF NOT EXISTS orders (id BIGINT PRIMARY KEY, item TEXT NOT NULL)')

// One row. pg reads BIGINT as a string, which is what JSON needs.
const id = ids.next()
await pool.query('INSERT INTO orders (id, item) VALUES ($1, $2)', [id, 'tea'])
const { rows } = await pool.query('SELECT id, item FROM orders WHERE id = $1', [id])
console.log(JSON.stringify(rows[0]))

// Many rows by one statement, with an array for each column.
const many = ids.take(1000)
const items = many.map((_, index) => `bread ${index}`)
await pool.query('INSERT INTO orders (id, item) SELECT * FROM unnest($1::bigint[], $2::text[])', [many, items])

// The orders of the last hour, the newest first, three a page. The last id of a page leads to the next one.
const hourAgo = composeId({ timestampMs: Date.now() - 3_600_000, node: 0 }, layouts.twitter)
async function page(before = 2n ** 63n - 1n) {
  const text = 'SELECT id, item FROM orders WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT 3'
  return (await pool.query(text, [hourAgo, before])).rows
}
const newest = await page()
console.log(JSON.stringify(newest))
console.log(JSON.stringify(await page(newest.at(-1).id)))

await pool.end()
