// Orders in MySQL or MariaDB, by Drizzle.
//
//   npm pkg set type=module && npm install graupel drizzle-orm mysql2
//   MYSQL_URL=mysql://root@127.0.0.1:3306/test npx tsx drizzle-mysql.ts
import { and, eq, gte, lt } from 'drizzle-orm'
import { bigint, mysqlTable, text } from 'drizzle-orm/mysql-core'
import { drizzle } from 'drizzle-orm/mysql2'
import { composeId, createGenerator } from 'graupel'
import mysql from 'mysql2/promise'

const ids = createGenerator({ node: 7 }) // each host needs its own number

const orders = mysqlTable('orders', {
  id: bigint({ mode: 'bigint' }).primaryKey().$defaultFn(ids.next),
  item: text().notNull(),
})

const pool = mysql.createPool({ uri: process.env.MYSQL_URL, supportBigNumbers: true })
const db = drizzle(pool)

// In an app this is a migration by drizzle-kit.
await pool.query('CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, item text NOT NULL)')

const [{ id }] = await db.insert(orders).values({ item: 'tea' }).$returningId()
typeof id // 'bigint'
const [order] = await db.select().from(orders).where(eq(orders.id, id))
order.id === id // true

// The orders of the last hour.
const idAt = (timestampMs: number) => composeId({ timestampMs, node: 0 }, ids.layout)
const now = Date.now()
const recent = await db
  .select()
  .from(orders)
  .where(and(gte(orders.id, idAt(now - 3_600_000)), lt(orders.id, idAt(now + 1000))))
recent.some((row) => row.id === id) // true

// JSON.stringify refuses bigints.
console.log(JSON.stringify({ id: String(order.id), item: order.item }))
await pool.end()
