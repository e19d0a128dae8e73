// Proves what the types of Prisma refuse and allow, as docs/orms.md says. Compiled in the folder of
// examples/orms/prisma.
import type { PrismaClient } from './generated/client.js'

const where = { email: 'ann@example.com' }
const complete = { id: 1n, ...where }
const item = { item: 'tea' }

export function refused(prisma: PrismaClient) {
  // @ts-expect-error: the id is missing.
  prisma.customer.create({ data: where })
  // @ts-expect-error: the id is missing.
  prisma.customer.createMany({ data: [where] })
  // @ts-expect-error: the id is missing.
  prisma.customer.createManyAndReturn({ data: [where] })
  // @ts-expect-error: the id is missing.
  prisma.customer.upsert({ where, create: where, update: {} })
  // @ts-expect-error: the id of the nested row is missing.
  prisma.customer.create({ data: { ...complete, orders: { create: [item] } } })
  // @ts-expect-error: the id of the nested row is missing.
  prisma.customer.create({ data: { ...complete, orders: { createMany: { data: [item] } } } })
  // @ts-expect-error: the id of the nested row is missing.
  prisma.customer.update({ where, data: { orders: { upsert: { where: { id: 1n }, create: item, update: {} } } } })
  // @ts-expect-error: the id of the nested row is missing.
  prisma.order.create({ data: { id: 1n, ...item, customer: { connectOrCreate: { where, create: where } } } })
  prisma.customer.create({ data: { ...where, id: 1 } })
}

/** An extension that sets the id changes nothing of the types. */
export function refusedOfAnExtension(prisma: PrismaClient) {
  const extended = prisma.$extends({
    query: { customer: { create: ({ args, query }) => query({ ...args, data: { ...args.data, id: 1n } }) } },
  })
  // @ts-expect-error: the id is missing.
  extended.customer.create({ data: where })
}
