// Orders in MySQL or MariaDB by mysql2, with ids as their primary key.
//
//   npm install graupel mysql2
//   MYSQL_URL=mysql://root@127.0.0.1:3306/test node mysql2.mjs
//
// It makes a table, inserts 1001 orders, and prints one of them and two pages of the newest.
// docs/databases.md explains it.
import { composeId, createGenerator, layouts } from 'graupel'
import mysql from 'mysql2/promise'

// A fixed node is for a single process. Several processes lease theirs, as in ../mysql.mjs.
const ids = createGenerator({ node: 7 }) // each host needs its own number

const uri = process.env.MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/test'
// Without both of these options, mysql2 rounds ids and says nothing.
const pool = mysql.createPool({ uri, supportBigNumbers: true, bigNumberStrings: true })
await pool.query('CREATE TABLE IF NOT EXISTS orders (id BIGINT PRIMARY KEY, item VARCHAR(100) NOT NULL)')

// One row. With these options BIGINT is a string, which is what JSON needs.
const id = ids.next()
await pool.execute('INSERT INTO orders (id, item) VALUES (?, ?)', [id, 'tea'])
const [orders] = await pool.execute('SELECT id, item FROM orders WHERE id = ?', [id])
console.log(JSON.stringify(orders[0]))

// Many rows by one statement.
const rows = ids.take(1000).map((id, index) => [id, `bread ${index}`])
await pool.query('INSERT INTO orders (id, item) VALUES ?', [rows])

// The orders of the last hour, the newest first, three a page. The last id of a page leads to the next one.
const hourAgo = composeId({ timestampMs: Date.now() - 3_600_000, node: 0 }, layouts.twitter)
async function page(before = 2n ** 63n - 1n) {
  const text = 'SELECT id, item FROM orders WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 3'
  return (await pool.execute(text, [hourAgo, before]))[0]
}
const newest = await page()
console.log(JSON.stringify(newest))
console.log(JSON.stringify(await page(newest.at(-1).id)))

await pool.end()
