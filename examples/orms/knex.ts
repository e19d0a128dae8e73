// Orders in PostgreSQL or MySQL, by Knex.
//
//   npm pkg set type=module && npm install graupel knex pg
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npx tsx knex.ts
//
// For MySQL: install mysql2, and set MYSQL_URL=mysql://root@127.0.0.1:3306/test instead.
import { composeId, createGenerator } from 'graupel'
import knex from 'knex'

const ids = createGenerator({ node: 7 }) // each host needs its own number

interface Order {
  id: string
  item: string
}

const { DATABASE_URL, MYSQL_URL } = process.env
const db =
  MYSQL_URL === undefined
    ? knex({ client: 'pg', connection: DATABASE_URL })
    : knex({ client: 'mysql2', connection: { uri: MYSQL_URL, supportBigNumbers: true, bigNumberStrings: true } })

// In an app this is a migration.
if (!(await db.schema.hasTable('orders'))) {
  await db.schema.createTable('orders', (table) => {
    table.bigInteger('id').primary()
    table.text('item').notNullable()
  })
}

const id = ids.nextString()
await db<Order>('orders').insert({ id, item: 'tea' })
const order = await db<Order>('orders').where({ id }).first()
order?.id === id // true

// The orders of the last hour.
const idAt = (timestampMs: number) => String(composeId({ timestampMs, node: 0 }, ids.layout))
const now = Date.now()
const recent = await db<Order>('orders')
  .where('id', '>=', idAt(now - 3_600_000))
  .andWhere('id', '<', idAt(now + 1000))
recent.some((row) => row.id === id) // true

console.log(JSON.stringify(order))
await db.destroy()
