// Orders in PostgreSQL, by Prisma.
//
//   npm pkg set type=module && npm install graupel prisma @prisma/client @prisma/adapter-pg
//   npx prisma generate --schema schema.prisma
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npx tsx main.ts
import { PrismaPg } from '@prisma/adapter-pg'
import { composeId, createGenerator } from 'graupel'
import { PrismaClient } from './generated/client.js'

const ids = createGenerator({ node: 7 }) // each host needs its own number

const adapter = new PrismaPg({ connectionString: process.env.DATABASE_URL })
const prisma = new PrismaClient({ adapter })

// In an app these are migrations by prisma migrate.
await prisma.$executeRaw`CREATE TABLE IF NOT EXISTS customers (id bigint PRIMARY KEY, email text UNIQUE NOT NULL)`
await prisma.$executeRaw`
  CREATE TABLE IF NOT EXISTS orders
    (id bigint PRIMARY KEY, item text NOT NULL, "customerId" bigint NOT NULL REFERENCES customers)`

// The compiler demands an id of each row that may be created, nested rows included.
const customer = await prisma.customer.create({
  data: { id: ids.next(), email: 'ann@example.com', orders: { create: [{ id: ids.next(), item: 'tea' }] } },
  include: { orders: true },
})
const [order] = customer.orders
typeof order.id // 'bigint'

// Many rows: the same for createManyAndReturn, and for a nested createMany: { data }.
const rows = [{ item: 'milk' }, { item: 'sugar' }]
const data = rows.map((row) => ({ ...row, id: ids.next(), customerId: customer.id }))
await prisma.order.createMany({ data })

// If the row exists, the id of `create` is left unused.
const email = 'bob@example.com'
const bob = await prisma.customer.upsert({ where: { email }, create: { id: ids.next(), email }, update: {} })
const cake = await prisma.order.create({
  data: {
    id: ids.next(),
    item: 'cake',
    customer: { connectOrCreate: { where: { email }, create: { id: ids.next(), email } } },
  },
})
cake.customerId === bob.id // true

// The orders of the last hour.
const idAt = (timestampMs: number) => composeId({ timestampMs, node: 0 }, ids.layout)
const now = Date.now()
const recent = await prisma.order.findMany({ where: { id: { gte: idAt(now - 3_600_000), lt: idAt(now + 1000) } } })
recent.some(({ id }) => id === order.id) // true

// For JSON: a client whose orders have their ids as text. JSON.stringify refuses bigints.
const forJson = prisma.$extends({
  result: { order: { id: { needs: { id: true }, compute: ({ id }) => String(id) } } },
})
const found = await forJson.order.findUniqueOrThrow({ where: { id: order.id }, select: { id: true, item: true } })
typeof found.id // 'string'

console.log(JSON.stringify(found))
await prisma.$disconnect()
