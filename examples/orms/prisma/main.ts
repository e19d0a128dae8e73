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
await prisma.$executeRaw`CREATE TABLE IF NOT EXISTS customers (id bigint PRIMARY KEY, name text NOT NULL)`
await prisma.$executeRaw`
  CREATE TABLE IF NOT EXISTS orders
    (id bigint PRIMARY KEY, item text NOT NULL, "customerId" bigint NOT NULL REFERENCES customers)`

// The compiler demands an id of each row, nested rows included.
const customer = await prisma.customer.create({
  data: { id: ids.next(), name: 'Ann', orders: { create: [{ id: ids.next(), item: 'tea' }] } },
  include: { orders: true },
})
const [order] = customer.orders
typeof order.id // 'bigint'

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
