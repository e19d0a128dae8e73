// test/api/types.test.ts compiles this file, and nothing runs it. TypeScript must refuse the line below each
// directive, and allow all other lines.
import {
  type BaseGenerator,
  composeId,
  createGenerator,
  decode,
  defineLayout,
  defineSerial,
  encodeId,
  type GeneratorView,
  gather,
  type IdGenerator,
  idsBetween,
  isId,
  type Layout,
  layouts,
  scatter,
  timestampMsOf,
} from 'graupel'
import { connect, type IdClient } from 'graupel/client'
import { defineKind, idSchema, type Kind, type KindId, type UuidKind } from 'graupel/kind'
import { createMask } from 'graupel/mask'
import { testGenerator } from 'graupel/testing'
import { createRandomUuidGenerator, createUuidGenerator, parseUuid, uuidOf } from 'graupel/uuid'

const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
const user = defineKind({ prefix: 'usr', layout: layouts.twitter })
type OrderId = Kind.Id<typeof order>
type UserId = Kind.Id<typeof user>
declare const ship: (id: OrderId) => void
declare const remove: (id: UserId) => void

const orderIds = order.ids(createGenerator({ node: 7 }))
const userIds = user.ids(createGenerator({ node: 7 }))
const id: OrderId = orderIds.next()
const userId = userIds.next()

// Results of each call that makes ids have the kind.
ship(id)
ship(await orderIds.nextAsync())
for (const one of orderIds.take(2)) ship(one)
for (const one of orderIds) ship(one)
export const [next, digits]: [() => OrderId, KindId<'ord', string>] = [orderIds.next, orderIds.nextString()]
ship(order.id('ord_1asd13xh1f800'))
export const several: OrderId[] = Array.from({ length: 2 }, orderIds.next)
// @ts-expect-error the id of a user is no id of an order
ship(userId)
// @ts-expect-error nor is one of nextAsync
ship(await userIds.nextAsync())
// @ts-expect-error nor is one of take
ship(userIds.take(2)[0])
// @ts-expect-error nor is one of the iterator
for (const one of userIds) ship(one)
// @ts-expect-error nor is one of a text
ship(user.id('usr_1asd13xh1f800'))
// @ts-expect-error nor are its digits
digits satisfies ReturnType<typeof userIds.nextString>
// @ts-expect-error the kind of a plain bigint is not known
ship(7n)
// @ts-expect-error a text is no id
ship(order.text(id))
// @ts-expect-error an id is no text
id satisfies Kind.Text<typeof order>
ship(7n as OrderId)
export const wrongGenerator = (): void => {
  // @ts-expect-error these are the ids of orders
  const ids: typeof userIds = orderIds
  remove(ids.next())
}

// A kind writes its own ids and plain ones, and none of another kind.
export const texts = [order.text(id), order.text(digits), order.text(7n), order.text('7')]
export const textsOfSome = [id, 7n].map(order.text)
declare const given: bigint | string
order.text(given)
// @ts-expect-error the id of a user
order.text(userId)
// @ts-expect-error the digits of the id of a user
order.text(userIds.nextString())

// It is accepted wherever a bigint is.
const plain: bigint = id
export const ordered = [id + 1n, id < userId, plain === id, BigInt.asIntN(64, id), `${id}`, String(id)]
export const used = [
  decode(id, layouts.twitter),
  orderIds.decode(userId),
  orderIds.decode(digits),
  orderIds.observe(userId),
  timestampMsOf(id, layouts.twitter),
  encodeId(id, 'base62'),
  encodeId(id, 'hex', layouts.twitter),
  scatter(id, layouts.twitter),
  gather(id, layouts.twitter),
  uuidOf(id, layouts.twitter),
  createMask(new Uint8Array(32)).hide(id),
  defineSerial({ pattern: '{sequence}', layout: layouts.twitter }).format(id),
  isId(id, layouts.twitter) && (id satisfies OrderId),
  composeId(decode(id, layouts.twitter), layouts.twitter),
  id >= idsBetween(0, 1, layouts.twitter).first,
  new BigInt64Array([id]),
  JSON.stringify({ id }),
]
new Map<OrderId, string>().get(id)
// @ts-expect-error the key of the map is the id of an order
new Map<OrderId, string>().get(userId)

// All other members are those of the generator.
orderIds satisfies IdGenerator
orderIds satisfies IdGenerator<layouts.Twitter>
orderIds satisfies BaseGenerator<layouts.Twitter>
export const plainIds: BigUint64Array = orderIds.fill(new BigUint64Array(4))
export const datacenter: number = orderIds.decode(id).fields.datacenter
// @ts-expect-error twitter's ids have 63 bits
orderIds.nextNumber()
// @ts-expect-error a generator keeps its node
orderIds.node = 8
{
  using scoped = order.ids(createGenerator({ node: 1 }))
  ship(scoped.next())
}
const ofTests = order.ids(testGenerator())
ofTests.reset()
ship(ofTests.next())
const remote = order.ids(await connect({ url: 'http://127.0.0.1:4728' }))
remote satisfies IdClient
ship(createUuidGenerator({ ids: orderIds }).ids.next())
ship(remote.next())
// @ts-expect-error nothing has ids
order.ids({})
// @ts-expect-error UUIDs are no ids of a layout
order.ids(createRandomUuidGenerator())

// Numbers.
const narrow = defineKind({ prefix: 'n', layout: layouts.js53 })
const narrowIds = narrow.ids(createGenerator({ node: 7, layout: layouts.js53 }))
const number: KindId<'n', number> = narrowIds.nextNumber()
decode(number, layouts.js53)
Math.max(number, 5)
narrow.text(number)
narrow.text(5)
// @ts-expect-error a number of another kind
defineKind({ prefix: 'm', layout: layouts.js53 }).text(number)
const unknownLayout: Layout = layouts.twitter
const ofUnknown = order.ids(createGenerator({ node: 1, layout: unknownLayout }))
export const maybe: KindId<'ord', number> | undefined = ofUnknown.nextNumber?.()

// Views.
const tagged = defineLayout({
  name: 'tagged',
  epochMs: 0,
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 8],
    ['shard', 6, 'tag'],
    ['sequence', 8],
  ],
})
const row = defineKind({ prefix: 'row', layout: tagged })
const rowIds = row.ids(createGenerator({ node: 7, layout: tagged }))
const shard = rowIds.with({ shard: 5 })
shard satisfies GeneratorView<typeof tagged.fields>
export const rows: Kind.Id<typeof row>[] = [shard.next(), shard.with({ shard: 6 }).next(), ...shard.take(2)]
export const shardOfView: number = shard.tags.shard
// @ts-expect-error the id of a row is no id of an order
ship(shard.next())
// @ts-expect-error the shard has to be chosen
rowIds.next()
// @ts-expect-error the shard is misspelt
rowIds.with({ shrad: 5 })

// UUIDs.
const doc = defineKind({ prefix: 'doc', uuid: true })
const image = defineKind({ prefix: 'img', uuid: true })
const uuids = doc.ids(createUuidGenerator({ node: 7 }))
const imageUuids = image.ids(createRandomUuidGenerator())
declare const print: (uuid: Kind.Id<typeof doc>) => void
print(uuids.next())
print(doc.id('doc_01h455vb4pex5vsknk084sn02q'))
parseUuid(uuids.next())
doc.text(uuids.next())
doc.text(uuids.nextBytes())
doc.text('01890a5d-ac96-774b-bcce-b302099a8057')
// @ts-expect-error the UUID of an image is no UUID of a document
print(imageUuids.next())
// @ts-expect-error the UUID of an image
doc.text(imageUuids.next())
// @ts-expect-error the bytes of the UUID of an image
doc.text(imageUuids.nextBytes())
// @ts-expect-error nothing has checked this text
print('01890a5d-ac96-774b-bcce-b302099a8057')
// @ts-expect-error ids of a layout are no UUIDs
doc.ids(createGenerator({ node: 7 }))

// A kind of any prefix and layout.
order satisfies Kind
narrow satisfies Kind
row satisfies Kind
doc satisfies UuidKind
export const kinds: Kind[] = [order, user, narrow]
export const textOf = (kind: Kind, one: bigint): string => kind.text(one)
export const { text, ids } = order
idSchema(layouts.twitter)
