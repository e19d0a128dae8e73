// Proves what the types of Prisma refuse and allow, as docs/orms.md says. Compiled in the folder of examples/orms/prisma.
import type { PrismaClient } from './generated/client.js'

export function refused(prisma: PrismaClient) {
  // @ts-expect-error: the id is missing.
  prisma.customer.create({ data: { name: 'Ann' } })
  // @ts-expect-error: the id of the nested row is missing.
  prisma.customer.create({ data: { id: 1n, name: 'Ann', orders: { create: [{ item: 'tea' }] } } })
  prisma.customer.create({ data: { id: 1, name: 'Ann' } })
}
