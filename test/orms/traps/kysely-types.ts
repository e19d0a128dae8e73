// Proves what the types of Kysely refuse, as docs/orms.md says.
import type { Generated, Kysely } from 'kysely'

interface Tables {
  orders: { id: string; item: string }
  generated: { id: Generated<string>; item: string }
}

export function refused(db: Kysely<Tables>) {
  // @ts-expect-error: the id is missing.
  db.insertInto('orders').values({ item: 'tea' })
  db.insertInto('generated').values({ item: 'tea' })
  // @ts-expect-error: a bigint is no string.
  db.selectFrom('orders').where('id', '=', 5n)
}
