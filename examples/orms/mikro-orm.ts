// Orders in PostgreSQL, by MikroORM.
//
//   npm pkg set type=module && npm install graupel @mikro-orm/core @mikro-orm/postgresql
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npx tsx mikro-orm.ts
import { defineEntity, p } from '@mikro-orm/core'
import { MikroORM } from '@mikro-orm/postgresql'
import { composeId, createGenerator } from 'graupel'

const ids = createGenerator({ node: 7 }) // each host needs its own number

const Order = defineEntity({
  name: 'Order',
  tableName: 'orders',
  properties: {
    id: p
      .bigint('bigint')
      .primary()
      .onCreate(() => ids.next()),
    item: p.text(),
  },
})

const orm = await MikroORM.init({ entities: [Order], clientUrl: process.env.DATABASE_URL })

// In an app this is a migration.
await orm.em.execute('CREATE TABLE IF NOT EXISTS orders (id BIGINT PRIMARY KEY, item TEXT NOT NULL)')

const em = orm.em.fork()
const order = em.create(Order, { item: 'tea' })
await em.persist(order).flush()
typeof order.id // 'bigint'

const found = await orm.em.fork().findOneOrFail(Order, order.id)
found.id === order.id // true

// The orders of the last hour.
const idAt = (timestampMs: number) => composeId({ timestampMs, node: 0 }, ids.layout)
const now = Date.now()
const recent = await em.find(Order, { id: { $gte: idAt(now - 3_600_000), $lt: idAt(now + 1000) } })
recent.some(({ id }) => id === order.id) // true

// JSON.stringify refuses bigints.
console.log(JSON.stringify({ id: String(found.id), item: found.item }))
await orm.close()
