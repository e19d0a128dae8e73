// Proves what Prisma does with ids, beyond its example. Runs in the folder of examples/orms/prisma.
import { PrismaPg } from '@prisma/adapter-pg'
import { createGenerator } from 'graupel'
import pg from 'pg'
import { Prisma, PrismaClient } from './generated/client.js'

const ids = createGenerator({ node: 7 })
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
await pool.query('CREATE TABLE customers (id bigint PRIMARY KEY, email text UNIQUE)')
await pool.query('CREATE TABLE orders (id bigint PRIMARY KEY, item text, "customerId" bigint)')
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) })

// The types allow numbers.
await prisma.customer.create({ data: { id: Number('2124552026368012289'), email: 'ann' } })
const written = await pool.query('SELECT id FROM customers')
written.rows // [{ id: '2124552026368012300' }]

// Related rows are exact.
const exact = 2124552026368012289n
const orders = { create: [{ id: exact, item: 'tea' }] }
await prisma.customer.create({ data: { id: exact, email: 'bob', orders } })
const bob = await prisma.customer.findUnique({ where: { id: exact }, include: { orders: true } })
bob.orders // [{ id: 2124552026368012289n, item: 'tea', customerId: 2124552026368012289n }]

// Each write that creates rows takes the ids that it is given.
const made: bigint[] = []
const row = <Rest>(rest: Rest) => {
  const id = ids.next()
  made.push(id)
  return { ...rest, id }
}
await prisma.customer.createMany({ data: [row({ email: 'cleo' }), row({ email: 'dan' })] })
await prisma.customer.createManyAndReturn({ data: [row({ email: 'eve' })] })
await prisma.customer.create({
  data: row({ email: 'fay', orders: { createMany: { data: [row({ item: 'milk' }), row({ item: 'tea' })] } } }),
})
await prisma.customer.upsert({ where: { email: 'gus' }, create: row({ email: 'gus' }), update: {} })
const found = { where: { email: 'hal' }, create: row({ email: 'hal' }) }
await prisma.order.create({ data: row({ item: 'cake', customer: { connectOrCreate: found } }) })
const missing = { where: { id: 1n }, create: row({ item: 'rice' }), update: {} }
await prisma.customer.update({ where: { email: 'hal' }, data: { orders: { upsert: missing } } })
const all = await pool.query('SELECT id FROM customers UNION ALL SELECT id FROM orders')
const stored = new Set(all.rows.map(({ id }) => BigInt(id)))
made.filter((id) => !stored.has(id)) // []
made.length // 10

// An upsert of a row that exists leaves it as it is.
const again = await prisma.customer.upsert({
  where: { email: 'gus' },
  create: { id: ids.next(), email: 'gus' },
  update: {},
})
made.includes(again.id) // true

// Prisma calls an extension for the outer row only, and does not export the model.
'dmmf' in Prisma // false
const withIds = prisma.$extends({
  query: {
    $allModels: {
      create({ args, query }) {
        args.data.id ??= ids.next()
        return query(args)
      },
    },
  },
})
const created = await withIds.customer.create({ data: { email: 'ivy' } })
typeof created.id // 'bigint'
const nested = withIds.customer.create({ data: { email: 'jay', orders: { create: [{ item: 'tea' }] } } })
await nested.then(String, (error) => error.message.includes('Argument `id` is missing')) // true

await prisma.$disconnect()
await pool.end()
console.log('true')
