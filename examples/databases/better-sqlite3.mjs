// Orders in SQLite by better-sqlite3, with ids as their primary key.
//
//   npm install graupel better-sqlite3
//   SQLITE_FILE=orders.db node better-sqlite3.mjs
//
// It makes a table, inserts 1001 orders, and prints one of them and two pages of the newest.
// docs/databases.md explains it.
import Database from 'better-sqlite3'
import { composeId, createGenerator, layouts } from 'graupel'

// A fixed node is for a single process. Several processes lease theirs, as in ../sqlite.mjs.
const ids = createGenerator({ node: 7 }) // each host needs its own number

const database = new Database(process.env.SQLITE_FILE ?? 'orders.db')
// Without this, better-sqlite3 rounds ids and says nothing. libsql has the same call.
database.defaultSafeIntegers()
database.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL) STRICT')
const insert = database.prepare('INSERT INTO orders (id, item) VALUES (?, ?)')

// One row. Its id is a bigint, which JSON.stringify refuses.
const id = ids.next()
insert.run(id, 'tea')
const order = database.prepare('SELECT id, item FROM orders WHERE id = ?').get(id)
const forJson = (row) => ({ ...row, id: String(row.id) })
console.log(JSON.stringify(forJson(order)))

// Many rows: one statement in one transaction.
database.exec('BEGIN')
for (const [index, id] of ids.take(1000).entries()) insert.run(id, `bread ${index}`)
database.exec('COMMIT')

// The orders of the last hour, the newest first, three a page. The last id of a page leads to the next one.
const hourAgo = composeId({ timestampMs: Date.now() - 3_600_000, node: 0 }, layouts.twitter)
const page = database.prepare('SELECT id, item FROM orders WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 3')
const newest = page.all(hourAgo, 2n ** 63n - 1n)
console.log(JSON.stringify(newest.map(forJson)))
const next = page.all(hourAgo, newest.at(-1).id)
console.log(JSON.stringify(next.map(forJson)))

database.close()
