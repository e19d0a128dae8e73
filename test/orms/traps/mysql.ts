// Proves what mysql2 returns to query builders, and to ORMs that set its options themselves.
import 'reflect-metadata'
import { bigint, mysqlTable } from 'drizzle-orm/mysql-core'
import { drizzle } from 'drizzle-orm/mysql2'
import knex from 'knex'
import { Kysely, MysqlDialect } from 'kysely'
import { createConnection, createPool } from 'mysql2'
import { DataTypes, Sequelize } from 'sequelize'
import { DataSource, EntitySchema } from 'typeorm'

const url = process.env.MYSQL_URL
const safe = { supportBigNumbers: true, bigNumberStrings: true }
const setup = createConnection(url).promise()
await setup.query('CREATE TABLE orders (id bigint PRIMARY KEY)')
await setup.query('INSERT INTO orders VALUES (2124552026368012289)')
await setup.end()

async function byKysely(options) {
  const db = new Kysely({ dialect: new MysqlDialect({ pool: createPool({ uri: url, ...options }) }) })
  const [{ id }] = await db.selectFrom('orders').selectAll().execute()
  await db.destroy()
  return id
}
await byKysely({}) // 2124552026368012300
await byKysely(safe) // '2124552026368012289'

async function byKnex(options) {
  const db = knex({ client: 'mysql2', connection: { uri: url, ...options } })
  const [{ id }] = await db('orders')
  await db.destroy()
  return id
}
await byKnex({}) // 2124552026368012300
await byKnex(safe) // '2124552026368012289'

async function byTypeorm(options) {
  const orders = new EntitySchema({ name: 'orders', columns: { id: { type: 'bigint', primary: true } } })
  const source = await new DataSource({ type: 'mysql', url, entities: [orders], ...options }).initialize()
  const [{ id }] = await source.getRepository(orders).find()
  await source.destroy()
  return id
}
await byTypeorm({}) // '2124552026368012289'
await byTypeorm({ supportBigNumbers: false }) // 2124552026368012300

async function bySequelize(dialectOptions) {
  const db = new Sequelize(url, { logging: false, dialectOptions })
  const orders = db.define('orders', { id: { type: DataTypes.BIGINT, primaryKey: true } }, { timestamps: false })
  const { id } = await orders.findOne()
  await db.close()
  return id
}
await bySequelize({}) // '2124552026368012289'
await bySequelize({ supportBigNumbers: false }) // 2124552026368012300

// If a default makes bigints, the type of a new id differs from the type of an id that is read.
const db = new Sequelize(url, { logging: false })
const id = { type: DataTypes.BIGINT, primaryKey: true, defaultValue: () => 2124552026368012290n }
const withBigints = db.define('orders', { id }, { timestamps: false })
const created = await withBigints.create()
created.id // 2124552026368012290n
const found = await withBigints.findByPk(created.id)
found.id // '2124552026368012290'
await created.destroy()
await db.close()

async function byDrizzle(mode, client) {
  const orders = mysqlTable('orders', { id: bigint({ mode }).primaryKey() })
  const db = drizzle(client)
  const [{ id }] = await db.select().from(orders)
  await db.$client.promise().end()
  return id
}
await byDrizzle('bigint', createPool({ uri: url })) // 2124552026368012288n
await byDrizzle('bigint', url) // 2124552026368012288n
await byDrizzle('bigint', createPool({ uri: url, supportBigNumbers: true })) // 2124552026368012289n
await byDrizzle('bigint', { connection: url }) // 2124552026368012289n
await byDrizzle('number', createPool({ uri: url, supportBigNumbers: true })) // 2124552026368012300

console.log('true')
