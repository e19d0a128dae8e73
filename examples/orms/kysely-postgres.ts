// Orders in PostgreSQL, by Kysely.
//
//   npm pkg set type=module && npm install graupel kysely pg
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npx tsx kysely-postgres.ts
import { composeId, createGenerator } from 'graupel'
import { Kysely, PostgresDialect } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import pg from 'pg'

const ids = createGenerator({ node: 7 }) // each host needs its own number

// A plain string: with Generated<string> the compiler would let an insert without an id pass.
interface Tables {
  customers: { id: string; name: string }
  orders: { id: string; customerId: string; item: string }
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
pool.on('error', console.error) // a connection that has ended while it was idle; the pool makes another
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })

// In an app these are migrations.
await db.schema
  .createTable('customers')
  .ifNotExists()
  .addColumn('id', 'bigint', (column) => column.primaryKey())
  .addColumn('name', 'text', (column) => column.notNull())
  .execute()
await db.schema
  .createTable('orders')
  .ifNotExists()
  .addColumn('id', 'bigint', (column) => column.primaryKey())
  .addColumn('customerId', 'bigint', (column) => column.notNull().references('customers.id'))
  .addColumn('item', 'text', (column) => column.notNull())
  .execute()

const customer = { id: ids.nextString(), name: 'Ann' }
await db.insertInto('customers').values(customer).execute()
const order = await db
  .insertInto('orders')
  .values({ id: ids.nextString(), customerId: customer.id, item: 'tea' })
  .returningAll()
  .executeTakeFirstOrThrow()
typeof order.id // 'string'

// The orders of the last hour.
const idAt = (timestampMs: number) => String(composeId({ timestampMs, node: 0 }, ids.layout))
const now = Date.now()
const recent = await db
  .selectFrom('orders')
  .selectAll()
  .where('id', '>=', idAt(now - 3_600_000))
  .where('id', '<', idAt(now + 1000))
  .execute()
recent.some(({ id }) => id === order.id) // true

// In jsonArrayFrom, select ids as text: numbers of JSON are rounded.
const nested = await db
  .selectFrom('customers')
  .select(({ selectFrom }) => [
    'name',
    jsonArrayFrom(
      selectFrom('orders')
        .select(({ cast }) => [cast<string>('orders.id', 'text').as('id'), 'item'])
        .whereRef('customerId', '=', 'customers.id'),
    ).as('orders'),
  ])
  .where('customers.id', '=', customer.id)
  .executeTakeFirstOrThrow()
nested.orders[0].id === order.id // true

console.log(JSON.stringify({ id: order.id, item: order.item }))
await db.destroy()
