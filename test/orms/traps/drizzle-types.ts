// Proves what the types of Drizzle refuse, as docs/kinds.md and docs/orms.md say.
import { eq } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { createGenerator } from 'graupel'
import { defineKind, type Kind } from 'graupel/kind'

const ids = createGenerator({ node: 7 })
const order = defineKind({ prefix: 'ord', layout: ids.layout })
const user = defineKind({ prefix: 'usr', layout: ids.layout })
const userIds = user.ids(ids)
type OrderId = Kind.Id<typeof order>

const orders = pgTable('orders', {
  id: bigint({ mode: 'bigint' }).$type<OrderId>().primaryKey().$defaultFn(order.ids(ids).next),
  item: text().notNull(),
})

export async function refused(db: NodePgDatabase): Promise<OrderId | undefined> {
  const [row] = await db.insert(orders).values({ item: 'tea' }).returning()
  // @ts-expect-error: the id of a user is no id of an order.
  db.insert(orders).values({ id: userIds.next(), item: 'tea' })
  // @ts-expect-error: nor is it in a query.
  db.select().from(orders).where(eq(orders.id, userIds.next()))
  // @ts-expect-error: nor is it by default.
  bigint({ mode: 'bigint' }).$type<OrderId>().$defaultFn(userIds.next)
  return row?.id
}
