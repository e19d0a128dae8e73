// Orders in MariaDB or MySQL by mariadb, with ids as their primary key.
//
//   npm install graupel mariadb
//   MARIADB_URL=mariadb://root@127.0.0.1:3306/test node mariadb.mjs
//
// It makes a table, inserts 1001 orders, and prints one of them and two pages of the newest.
// docs/databases.md explains it.
import { composeId, createGenerator, layouts } from 'graupel'
import mariadb from 'mariadb'

// A fixed node is for a single process. Several processes lease theirs, as in ../mysql.mjs.
const ids = createGenerator({ node: 7 }) // each host needs its own number

const pool = mariadb.createPool(process.env.MARIADB_URL ?? 'mariadb://root@127.0.0.1:3306/test')
pool.on('error', console.error) // a connection that has ended while it was idle; the pool makes another
await pool.query('CREATE TABLE IF NOT EXISTS orders (id BIGINT PRIMARY KEY, item VARCHAR(100) NOT NULL)')

// One row. mariadb reads BIGINT as a bigint, which JSON.stringify refuses.
const id = ids.next()
await pool.query('INSERT INTO orders (id, item) VALUES (?, ?)', [id, 'tea'])
const [order] = await pool.query('SELECT id, item FROM orders WHERE id = ?', [id])
const forJson = (row) => ({ ...row, id: String(row.id) })
console.log(JSON.stringify(forJson(order)))

// Many rows in one trip.
const rows = ids.take(1000).map((id, index) => [id, `bread ${index}`])
await pool.batch('INSERT INTO orders (id, item) VALUES (?, ?)', rows)

// The orders of the last hour, the newest first, three a page. The last id of a page leads to the next one.
const hourAgo = composeId({ timestampMs: Date.now() - 3_600_000, node: 0 }, layouts.twitter)
function page(before = 2n ** 63n - 1n) {
  const text = 'SELECT id, item FROM orders WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 3'
  return pool.query(text, [hourAgo, before])
}
const newest = await page()
console.log(JSON.stringify(newest.map(forJson)))
const next = await page(newest.at(-1).id)
console.log(JSON.stringify(next.map(forJson)))

await pool.end()
