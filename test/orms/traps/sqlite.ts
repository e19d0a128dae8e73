// Proves what the other ORMs read from SQLite by better-sqlite3, with its defaults and with safeIntegers.
import 'reflect-metadata'
import Database from 'better-sqlite3'
import knex from 'knex'
import { Kysely, SqliteDialect } from 'kysely'
import { DataSource, EntitySchema } from 'typeorm'

const ids = ['2124552026368012289', '2124552026368012290']

async function byKysely(prepare) {
  const database = new Database(':memory:')
  prepare(database)
  const db = new Kysely({ dialect: new SqliteDialect({ database }) })
  await db.schema
    .createTable('orders')
    .addColumn('id', 'bigint', (column) => column.primaryKey())
    .execute()
  await db
    .insertInto('orders')
    .values(ids.map((id) => ({ id })))
    .execute()
  return (await db.selectFrom('orders').selectAll().execute()).map(({ id }) => id)
}
await byKysely(() => {}) // [2124552026368012300, 2124552026368012300]
await byKysely((database) => database.defaultSafeIntegers()) // [2124552026368012289n, 2124552026368012290n]

async function byKnex(options) {
  const connection = { filename: ':memory:', options }
  const db = knex({ client: 'better-sqlite3', connection, useNullAsDefault: true })
  await db.schema.createTable('orders', (table) => table.bigInteger('id').primary())
  await db('orders').insert(ids.map((id) => ({ id })))
  const rows = await db('orders')
  await db.destroy()
  return rows.map(({ id }) => id)
}
await byKnex({}) // [2124552026368012300, 2124552026368012300]
await byKnex({ safeIntegers: true }) // [2124552026368012289n, 2124552026368012290n]

async function byTypeorm(prepareDatabase) {
  const orders = new EntitySchema({ name: 'orders', columns: { id: { type: 'bigint', primary: true } } })
  const options = { database: ':memory:', synchronize: true, entities: [orders], prepareDatabase }
  const source = await new DataSource({ type: 'better-sqlite3', ...options }).initialize()
  await source.getRepository(orders).insert(ids.map((id) => ({ id })))
  const rows = await source.getRepository(orders).find()
  await source.destroy()
  return rows.map(({ id }) => id)
}
// Two rows whose rounded ids are equal become one entity.
await byTypeorm(() => {}) // [2124552026368012300]
await byTypeorm((database) => database.defaultSafeIntegers()) // [2124552026368012289n, 2124552026368012290n]

console.log('true')
