// Orders in PostgreSQL, by Prisma, in a class that gets its client and its generator from outside.
//
//   npm pkg set type=module && npm install graupel prisma @prisma/client @prisma/adapter-pg
//   npx prisma generate --schema schema.prisma
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npx tsx injected.ts
import { PrismaPg } from '@prisma/adapter-pg'
import { createGenerator, type IdGenerator } from 'graupel'
import { testGenerator } from 'graupel/testing'
import { PrismaClient } from './generated/client.js'

/** The orders of a shop. In NestJS, both arguments are providers. */
class Orders {
  constructor(
    private readonly prisma: PrismaClient,
    private readonly ids: Pick<IdGenerator, 'next'>,
  ) {}

  /** Writes the orders of a new customer. */
  create(email: string, items: readonly string[]) {
    const rows = items.map((item) => ({ id: this.ids.next(), item }))
    return this.prisma.customer.create({
      data: { id: this.ids.next(), email, orders: { create: rows } },
      include: { orders: { orderBy: { id: 'asc' } } },
    })
  }
}

const adapter = new PrismaPg({ connectionString: process.env.DATABASE_URL })
const prisma = new PrismaClient({ adapter })

// In an app these are migrations by prisma migrate.
await prisma.$executeRaw`CREATE TABLE IF NOT EXISTS customers (id bigint PRIMARY KEY, email text UNIQUE NOT NULL)`
await prisma.$executeRaw`
  CREATE TABLE IF NOT EXISTS orders
    (id bigint PRIMARY KEY, item text NOT NULL, "customerId" bigint NOT NULL REFERENCES customers)`

// The service passes the generator of its node.
const ids = createGenerator({ node: 7 }) // each host needs its own number
const ann = await new Orders(prisma, ids).create('ann@example.com', ['tea', 'milk'])
ann.orders.length // 2

// A test passes a generator whose ids it knows.
const bob = await new Orders(prisma, testGenerator()).create('bob@example.com', ['cake'])
bob.orders[0]?.id // 2006515713438646272n
bob.id // 2006515713438646273n

console.log(JSON.stringify({ id: String(ann.orders[0]?.id), item: ann.orders[0]?.item }))
await prisma.$disconnect()
