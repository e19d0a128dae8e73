// Orders in PostgreSQL, by Drizzle.
//
//   npm pkg set type=module && npm install graupel drizzle-orm pg
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npx tsx drizzle-postgres.ts
import { and, eq, gte, lt, relations, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { composeId, createGenerator } from 'graupel'
import pg from 'pg'

const ids = createGenerator({ node: 7 }) // each host needs its own number

const customers = pgTable('customers', {
  id: bigint({ mode: 'bigint' }).primaryKey().$defaultFn(ids.next),
  name: text().notNull(),
})
const orders = pgTable('orders', {
  id: bigint({ mode: 'bigint' }).primaryKey().$defaultFn(ids.next),
  customerId: bigint({ mode: 'bigint' }).references(() => customers.id),
  item: text().notNull(),
})
const customersRelations = relations(customers, ({ many }) => ({ orders: many(orders) }))
const ordersRelations = relations(orders, ({ one }) => ({
  customer: one(customers, { fields: [orders.customerId], references: [customers.id] }),
}))

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
pool.on('error', console.error) // a connection that has ended while it was idle; the pool makes another
const db = drizzle(pool, { schema: { customers, orders, customersRelations, ordersRelations } })

// In an app these are migrations by drizzle-kit.
await pool.query('CREATE TABLE IF NOT EXISTS customers (id bigint PRIMARY KEY, name text NOT NULL)')
await pool.query(
  'CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, "customerId" bigint REFERENCES customers, item text NOT NULL)',
)

const [customer] = await db.insert(customers).values({ name: 'Ann' }).returning()
const [order] = await db.insert(orders).values({ customerId: customer.id, item: 'tea' }).returning()
typeof order.id // 'bigint'

// The orders of the last hour.
const idAt = (timestampMs: number) => composeId({ timestampMs, node: 0 }, ids.layout)
const now = Date.now()
const recent = await db
  .select()
  .from(orders)
  .where(and(gte(orders.id, idAt(now - 3_600_000)), lt(orders.id, idAt(now + 1000))))
recent.some(({ id }) => id === order.id) // true

// In `with`, select ids as text: Drizzle reads what is below a row from JSON, where numbers are rounded.
const nested = await db.query.customers.findFirst({
  where: eq(customers.id, customer.id),
  with: { orders: { columns: { item: true }, extras: { id: sql<string>`${orders.id}::text`.as('id') } } },
})
nested?.orders[0].id === String(order.id) // true

// JSON.stringify refuses bigints.
console.log(JSON.stringify({ id: String(order.id), item: order.item }))
await pool.end()
