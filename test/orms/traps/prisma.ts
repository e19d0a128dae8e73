// Proves what Prisma does with ids, beyond its example. Runs in the folder of examples/orms/prisma.
import { PrismaPg } from '@prisma/adapter-pg'
import { createGenerator } from 'graupel'
import pg from 'pg'
import { PrismaClient } from './generated/client.js'

const ids = createGenerator({ node: 7 })
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
await pool.query('CREATE TABLE customers (id bigint PRIMARY KEY, name text)')
await pool.query('CREATE TABLE orders (id bigint PRIMARY KEY, item text, "customerId" bigint)')
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) })

// The types allow numbers.
await prisma.customer.create({ data: { id: Number('2124552026368012289'), name: 'Ann' } })
const written = await pool.query('SELECT id FROM customers')
written.rows // [{ id: '2124552026368012300' }]

// Related rows are exact.
const exact = 2124552026368012289n
const orders = { create: [{ id: exact, item: 'tea' }] }
await prisma.customer.create({ data: { id: exact, name: 'Bob', orders } })
const bob = await prisma.customer.findUnique({ where: { id: exact }, include: { orders: true } })
bob.orders // [{ id: 2124552026368012289n, item: 'tea', customerId: 2124552026368012289n }]

// Prisma does not call an extension that adds ids for nested rows.
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
const created = await withIds.customer.create({ data: { name: 'Cleo' } })
typeof created.id // 'bigint'
const nested = withIds.customer.create({ data: { name: 'Dan', orders: { create: [{ item: 'tea' }] } } })
await nested.then(String, (error) => error.message.includes('Argument `id` is missing')) // true

await prisma.$disconnect()
await pool.end()
console.log('true')
