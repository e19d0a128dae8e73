// Orders in MySQL or MariaDB, by Kysely.
//
//   npm pkg set type=module && npm install graupel kysely mysql2
//   MYSQL_URL=mysql://root@127.0.0.1:3306/test npx tsx kysely-mysql.ts
import { createGenerator } from 'graupel'
import { Kysely, MysqlDialect } from 'kysely'
import { createPool } from 'mysql2'

const ids = createGenerator({ node: 7 }) // each host needs its own number

interface Tables {
  orders: { id: string; item: string }
}

// Without these two options ids are read as numbers that are rounded.
const pool = createPool({ uri: process.env.MYSQL_URL, supportBigNumbers: true, bigNumberStrings: true })
const db = new Kysely<Tables>({ dialect: new MysqlDialect({ pool }) })

// In an app this is a migration.
await db.schema
  .createTable('orders')
  .ifNotExists()
  .addColumn('id', 'bigint', (column) => column.primaryKey())
  .addColumn('item', 'text', (column) => column.notNull())
  .execute()

const id = ids.nextString()
await db.insertInto('orders').values({ id, item: 'tea' }).execute()
const order = await db.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
order.id === id // true

console.log(JSON.stringify(order))
await db.destroy()
