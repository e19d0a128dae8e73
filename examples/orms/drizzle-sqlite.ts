// Orders in SQLite, by Drizzle.
//
//   npm pkg set type=module && npm install graupel drizzle-orm better-sqlite3
//   SQLITE_FILE=orders.db npx tsx drizzle-sqlite.ts
import Database from 'better-sqlite3'
import { and, gte, lt } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { customType, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { composeId, createGenerator } from 'graupel'

const ids = createGenerator({ node: 7 }) // each host needs its own number

/** Drizzle has no 64-bit integers for SQLite. */
const bigint = customType<{ data: bigint }>({ dataType: () => 'integer' })
/** `integer()` would be read as a bigint, too, because safeIntegers applies to all columns. */
const number = customType<{ data: number }>({ dataType: () => 'integer', fromDriver: Number })

const orders = sqliteTable('orders', {
  id: bigint().primaryKey().$defaultFn(ids.next),
  item: text().notNull(),
  pieces: number().notNull(),
})

const database = new Database(process.env.SQLITE_FILE ?? 'orders.db')
database.defaultSafeIntegers()
const db = drizzle(database)

// In an app this is a migration by drizzle-kit.
database.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL, pieces INTEGER NOT NULL)')

const order = db.insert(orders).values({ item: 'tea', pieces: 2 }).returning().get()
typeof order.id // 'bigint'
order.pieces // 2

// The orders of the last hour.
const idAt = (timestampMs: number) => composeId({ timestampMs, node: 0 }, ids.layout)
const now = Date.now()
const recent = db
  .select()
  .from(orders)
  .where(and(gte(orders.id, idAt(now - 3_600_000)), lt(orders.id, idAt(now + 1000))))
  .all()
recent.some(({ id }) => id === order.id) // true

// JSON.stringify refuses bigints.
console.log(JSON.stringify({ id: String(order.id), item: order.item }))
database.close()
