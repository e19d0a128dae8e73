// Proves what MikroORM does with ids, beyond its example.
import { defineEntity, p } from '@mikro-orm/core'
import { MikroORM } from '@mikro-orm/postgresql'
import { createGenerator } from 'graupel'

const ids = createGenerator({ node: 7 })
const id = p
  .bigint('bigint')
  .primary()
  .onCreate(() => ids.next())
const properties = { id, rounded: p.bigint('number'), text: p.bigint('string') }
const Order = defineEntity({ name: 'Order', properties })
const orm = await MikroORM.init({ entities: [Order], clientUrl: process.env.DATABASE_URL })
const em = orm.em.fork()
await em.execute('CREATE TABLE "order" (id bigint PRIMARY KEY, rounded bigint, text bigint)')
await em.execute('INSERT INTO "order" VALUES (2124552026368012289, 2124552026368012289, 2124552026368012289)')

const read = await em.findOneOrFail(Order, 2124552026368012289n)
read.id // 2124552026368012289n
read.rounded // 2124552026368012300
read.text // '2124552026368012289'

// The id is made when the row is written.
const created = em.create(Order, { rounded: 1, text: '1' })
created.id // undefined
await em.persist(created).flush()
typeof created.id // 'bigint'

await orm.close()
console.log('true')
