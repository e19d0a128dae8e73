// Proves what Drizzle rounds on SQLite.
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { blob, integer, sqliteTable } from 'drizzle-orm/sqlite-core'

const database = new Database(':memory:')
database.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, pieces INTEGER)')
database.exec('INSERT INTO orders VALUES (2124552026368012289, 2)')
const orders = sqliteTable('orders', { id: integer().primaryKey(), pieces: integer() })
const db = drizzle(database)
db.select().from(orders).get() // { id: 2124552026368012300, pieces: 2 }
database.defaultSafeIntegers()
db.select().from(orders).get() // { id: 2124552026368012289n, pieces: 2n }

database.exec('CREATE TABLE blobs (id BLOB PRIMARY KEY)')
db.insert(sqliteTable('blobs', { id: blob({ mode: 'bigint' }) }))
  .values({ id: 2124552026368012289n })
  .run()
const written = database.prepare('SELECT typeof(id) AS type, CAST(id AS TEXT) AS digits FROM blobs')
written.get() // { type: 'blob', digits: '2124552026368012289' }

console.log('true')
