// Proves what Drizzle rounds on PostgreSQL, as in the table of docs/orms.md.
import { relations } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, customType, pgTable } from 'drizzle-orm/pg-core'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
await pool.query('CREATE TABLE customers (id bigint PRIMARY KEY)')
await pool.query('CREATE TABLE orders (id bigint PRIMARY KEY, "customerId" bigint)')
await pool.query('INSERT INTO customers VALUES (1)')
await pool.query('INSERT INTO orders VALUES (2124552026368012289, 1)')

const withNumbers = pgTable('orders', { id: bigint({ mode: 'number' }).primaryKey() })
const [number] = await drizzle(pool).select().from(withNumbers)
number.id // 2124552026368012300

/** Returns the first id in the nested rows of a relational query, and the id that a plain query returns. */
async function idsOf(column) {
  const customers = pgTable('customers', { id: column().primaryKey() })
  const orders = pgTable('orders', { id: column().primaryKey(), customerId: column() })
  const customersRelations = relations(customers, ({ many }) => ({ orders: many(orders) }))
  const ordersRelations = relations(orders, ({ one }) => ({
    customer: one(customers, { fields: [orders.customerId], references: [customers.id] }),
  }))
  const db = drizzle(pool, { schema: { customers, orders, customersRelations, ordersRelations } })
  const customer = await db.query.customers.findFirst({ with: { orders: true } })
  const [plain] = await db.select().from(orders)
  return [customer.orders[0].id, plain.id]
}
await idsOf(() => bigint({ mode: 'bigint' })) // [2124552026368012288n, 2124552026368012289n]
const decimal = customType({ dataType: () => 'bigint', fromDriver: String })
await idsOf(decimal) // ['2124552026368012300', '2124552026368012289']

await pool.end()
console.log('true')
