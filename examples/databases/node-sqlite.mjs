// Orders in SQLite by node:sqlite, with ids as their primary key.
//
//   npm install graupel
//   SQLITE_FILE=orders.db node node-sqlite.mjs
//
// Node 22.18 or later has the option `readBigInts`; from 22.13 on, `setReadBigInts(true)` of each statement
// does the same.
//
// It makes a table, inserts 1001 orders, and prints one of them and two pages of the newest.
// docs/databases.md explains it.
import { DatabaseSync } from 'node:sqlite'
import { composeId, createGenerator, layouts } from 'graupel'

// A fixed node is for a single process. Several processes lease theirs, as in ../sqlite.mjs.
const ids = createGenerator({ node: 7 }) // each host needs its own number

// Without this option, node:sqlite throws ERR_OUT_OF_RANGE when it reads an id.
const database = new DatabaseSync(process.env.SQLITE_FILE ?? 'orders.db', { readBigInts: true })
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
