// Proves what Kysely, Knex and Sequelize do with ids on PostgreSQL, beyond their examples.
import { createGenerator } from 'graupel'
import knex from 'knex'
import { Kysely, PostgresDialect } from 'kysely'
import { jsonArrayFrom, jsonObjectFrom } from 'kysely/helpers/postgres'
import pg from 'pg'
import { DataTypes, Sequelize } from 'sequelize'

const ids = createGenerator({ node: 7 })
const url = process.env.DATABASE_URL
const pool = new pg.Pool({ connectionString: url })
await pool.query('CREATE TABLE orders (id bigint PRIMARY KEY)')
await pool.query('INSERT INTO orders VALUES (2124552026368012289)')

const kysely = new Kysely({ dialect: new PostgresDialect({ pool }) })
async function nested(jsonFrom) {
  const select = ({ selectFrom }) => jsonFrom(selectFrom('orders').select('id')).as('orders')
  return (await kysely.selectNoFrom(select).executeTakeFirst()).orders
}
await nested(jsonArrayFrom) // [{ id: 2124552026368012300 }]
await nested(jsonObjectFrom) // { id: 2124552026368012300 }
await kysely.destroy()

const builder = knex({ client: 'pg', connection: url })
const query = builder('orders').where('id', 2124552026368012289n)
query.toString().endsWith(`"id" = ''`) // true
await query // [{ id: '2124552026368012289' }]
await builder.destroy()

const db = new Sequelize(url, { logging: false, define: { timestamps: false } })
const id = { type: DataTypes.BIGINT, primaryKey: true, defaultValue: () => ids.nextString() }
const orders = db.define('order', { id })
const lines = db.define('line', { id })
lines.belongsTo(orders)
await lines.sync()
const [first, second] = await orders.bulkCreate([{}, {}])
const line = await lines.create({ orderId: second.id })
const found = await lines.findOne({ include: orders })
found.id === line.id && found.order.id === second.id && second.id > first.id // true
await db.close()

console.log('true')
