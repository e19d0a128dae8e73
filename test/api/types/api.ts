// test/api/types.test.ts compiles this file, and nothing runs it. TypeScript must refuse the line below each
// directive, and allow all other lines.
import {
  composeId,
  createGenerator,
  type DecodedId,
  decode,
  defineLayout,
  defineSerial,
  encodeId,
  type GeneratorOptions,
  type IdGenerator,
  isId,
  type Layout,
  layouts,
  nodeFromEnvironment,
  parseId,
  type Serial,
  timestampMsOf,
} from 'graupel'
import {
  type ClientOf,
  type ClientStats,
  type ClientView,
  connect,
  type IdClient,
  type NumberClient,
  type TagClient,
} from 'graupel/client'
import { defineKind, type Kind } from 'graupel/kind'
import type { Lease, LeaseEvent } from 'graupel/lease'
import { createMask, type Mask } from 'graupel/mask'
import {
  createSegmentGenerator,
  type SegmentGenerator,
  type SegmentHandle,
  type SegmentStats,
  type SegmentsEvent,
} from 'graupel/segments'
import { memoryStore } from 'graupel/stores'
import type { AheadEvent as AheadEventOfTests } from 'graupel/testing'
import { type AheadEvent, type EngineEvent, isUuid, uuidOf } from 'graupel/uuid'

const twitter = createGenerator({ node: { datacenter: 1, worker: 7 } })
const id: bigint = twitter.next()
const text: string = twitter.nextString()
const many: BigUint64Array = twitter.fill(new BigUint64Array(4))
const signed: BigInt64Array = await twitter.fillAsync(new BigInt64Array(4))
const taken: bigint[] = twitter.take(3)
const {
  next,
  nextString,
  nextAsync,
}: { next: () => bigint; nextString: () => string; nextAsync: () => Promise<bigint> } = twitter
const layoutOfTwitter: Layout<typeof layouts.twitter.fields> = twitter.layout
const about: [number, 'native' | 'js', string] = [twitter.node, twitter.engine, twitter.state]
// @ts-expect-error a generator keeps its node
twitter.node = 8
const { datacenter, worker }: { datacenter: number; worker: number } = twitter.decode(id).fields

// The node takes exactly the layout's fields.
createGenerator({ node: 378 })
createGenerator({ node: { shard: 12 }, layout: layouts.instagram })
// @ts-expect-error a field is missing
createGenerator({ node: { datacenter: 1 } })
// @ts-expect-error twitter has no shard
createGenerator({ node: { datacenter: 1, worker: 7, shard: 1 } })
// @ts-expect-error discord's parts are worker and process
createGenerator({ node: { datacenter: 1, worker: 7 }, layout: layouts.discord })
createGenerator({ node: { datacenter: 1, worker: nodeFromEnvironment({ statefulSet: 'web' }) } })
// @ts-expect-error a StatefulSet is named
nodeFromEnvironment({ statefulSet: true })
// @ts-expect-error a node is no text
createGenerator({ node: '7' })

// So does decode.
const discord: { worker: number; process: number } = decode('175928847299117063', layouts.discord).fields
// @ts-expect-error discord has no datacenter
decode(id, layouts.discord).fields.datacenter
// @ts-expect-error an id is no number
decode(1, layouts.discord)

// isId is a type guard for an unknown value. A text that is no id is still a text.
declare const parameter: unknown
if (isId(parameter, layouts.discord)) decode(parameter, layouts.discord)
export const length: number = isId(text) ? 0 : text.length
export const lengthOfUuid: number = isUuid(text) ? 0 : text.length
declare const query: { id?: string; ids?: string | string[] | null }
export const lengths: (number | undefined)[] = [
  isId(query.id) ? query.id.length : query.id?.length,
  isId(query.ids, layouts.discord) ? Number(decode(query.ids, layouts.discord).sequence) : query.ids?.length,
]
export function checkedId(given: string | number): string {
  if (!isId(given)) throw new RangeError(`the id has ${typeof given === 'string' ? given.length : given} characters`)
  return given
}
// @ts-expect-error an unknown value is no id
timestampMsOf(parameter, layouts.discord)
export const time: number = timestampMsOf(text, layouts.discord)

// nextNumber() exists up to 53 bits.
const narrow: number = createGenerator({ node: 1, layout: layouts.js53 }).nextNumber()
// @ts-expect-error twitter's ids have 63 bits
twitter.nextNumber()
const own = defineLayout({
  name: 'own',
  epochMs: 0,
  tickMs: 1000,
  fields: [
    ['timestamp', 32],
    ['region', 4],
    ['machine', 5],
    ['sequence', 12],
  ],
})
createGenerator({ node: { region: 1, machine: 2 }, layout: own }).nextNumber()
const wider = defineLayout({
  ...own,
  fields: [
    ['timestamp', 33],
    ['region', 4],
    ['machine', 5],
    ['sequence', 12],
  ],
})
// @ts-expect-error 54 bits
createGenerator({ node: 1, layout: wider }).nextNumber()
// @ts-expect-error own has no worker
createGenerator({ node: { region: 1, worker: 2 }, layout: own })

// Options.
const options: GeneratorOptions = { node: 1, onRollback: (event) => (event.rollbackMs > 5 ? 'throw' : 'advance') }
createGenerator(options)
declare const lease: Lease
createGenerator({ lease, onRollback: 'wait' })
createGenerator(Math.random() < 0.5 ? { lease } : { node: 7, layout: layouts.discord })
// @ts-expect-error the lease decides the node
createGenerator({ lease, node: 7 })
// @ts-expect-error the lease decides the layout
createGenerator({ lease, layout: layouts.discord })
// @ts-expect-error there is no such policy
createGenerator({ node: 1, onRollback: 'ignore' })
// @ts-expect-error reuse is for rollbacks
createGenerator({ node: 1, onOverflow: 'reuse' })
// @ts-expect-error there is no such option
createGenerator({ node: 1, machineId: 2 })

// Arrays, encodings.
// @ts-expect-error numbers do not hold ids
twitter.fill(new Float64Array(4))
const bytes: Uint8Array = encodeId(id, 'bytes')
const base62: string = encodeId(id, 'base62')
// @ts-expect-error bytes are not text
parseId('abc', 'bytes')
// @ts-expect-error there is no such encoding
encodeId(id, 'base64')

// A function that takes any generator, and one that takes one of a layout.
function useAny(ids: IdGenerator): bigint {
  return ids.next()
}
useAny(twitter)
function useTwitter(ids: IdGenerator<layouts.Twitter>): number {
  return ids.decode(ids.next()).fields.datacenter
}
useTwitter(twitter)
{
  using scoped = createGenerator({ node: 1 })
  scoped.next()
}
const decoded: DecodedId = decode(id, layouts.twitter)
composeId(decode(id, layouts.twitter), layouts.twitter)
// @ts-expect-error twitter has no shard
composeId({ timestampMs: 0, node: 1, fields: { shard: 1 } }, layouts.twitter)

// The variable GRAUPEL_NODE may say which node it is.
createGenerator().next()

// A layout that is only known when the program runs: its node is one number, and nextNumber() may be there.
declare const name: keyof typeof layouts
const chosen: Layout = layouts[name]
const ofChosen = createGenerator({ node: 1, layout: chosen })
const maybe: number | undefined = ofChosen.nextNumber?.()
const part: number | undefined = decode(id, chosen).fields['worker']

// A serial keeps the type of its layout.
const serial = defineSerial({ pattern: '{yyyyMMddHHmmssSSS}{node}{sequence}', layout: layouts.discord })
const layoutOfSerial: Layout<typeof layouts.discord.fields> = serial.layout
const parsed: bigint = serial.parse(serial.format(id))
defineSerial({ pattern: '{yyyyMMddHHmmssSSS}{node}{sequence}', layout: chosen, timeZone: '+08:00' }).format('7')
// @ts-expect-error a number cannot hold 64 bits
serial.format(7)
// @ts-expect-error a serial is text
serial.parse(7n)
// @ts-expect-error nothing says which layout made the ids
defineSerial({ pattern: '{yyyyMMddHHmmssSSS}{node}{sequence}' })

// An option may be undefined.
declare const fromEnvironment: number | undefined
createGenerator({ node: fromEnvironment })

const mask: Mask = createMask(new Uint8Array(32))
const hidden: [bigint, string, number] = [mask.hide(id), mask.hideString(id), mask.hideNumber(5)]
createMask({ keys: { b: Buffer.alloc(32), a: new Uint8Array(16) }, bits: 53, encoding: 'hex' })
// @ts-expect-error a key is no text
createMask('secret')
// @ts-expect-error there is no such width
createMask({ keys: {}, bits: 62 })
// @ts-expect-error texts are no bytes
createMask({ keys: {}, encoding: 'bytes' })

export {
  about,
  base62,
  bytes,
  datacenter,
  decoded,
  discord,
  hidden,
  layoutOfSerial,
  layoutOfTwitter,
  many,
  maybe,
  narrow,
  next,
  nextAsync,
  nextString,
  parsed,
  part,
  signed,
  taken,
  text,
  worker,
}

// Segments have the calls of a generator, all of them.
const orders: SegmentGenerator = await createSegmentGenerator({
  store: memoryStore(),
  name: 'orders',
  start: 1n,
  max: 9,
})
const order: [bigint, number, string] = [orders.next(), orders.nextNumber(), orders.nextString()]
const { next: nextOrder, nextAsync: nextOrderAsync }: { next(): bigint; nextAsync(): Promise<bigint> } = orders
const filled: BigInt64Array = orders.fill(new BigInt64Array(2))
const waited: BigUint64Array = await orders.fillAsync(new BigUint64Array(2))
const several: [bigint[], bigint[]] = [orders.take(2), [...orders]]
const counts: SegmentStats = orders.stats()
const ofThread: SegmentGenerator = await createSegmentGenerator({ handle: orders.handle satisfies SegmentHandle })
{
  using _ = ofThread
}
// @ts-expect-error a name is missing
createSegmentGenerator({ store: memoryStore() })
// @ts-expect-error a store is missing
createSegmentGenerator({ name: 'orders' })
// @ts-expect-error a step is no bigint
createSegmentGenerator({ store: memoryStore(), name: 'orders', step: 10n })
// @ts-expect-error there is no such option
createSegmentGenerator({ store: memoryStore(), name: 'orders', steps: 10 })
// @ts-expect-error a generator keeps its name
orders.name = 'others'
// @ts-expect-error fill takes arrays of 64 bits
orders.fill(new Uint32Array(2))
export const segmentsUsed = [order, nextOrder, nextOrderAsync, filled, waited, several, counts]

// A client of the service has the calls of a generator, by its layout; numbers have none.
const remote: IdClient<typeof layouts.twitter.fields> = await connect({ url: 'http://127.0.0.1:4728' })
const { next: nextRemote }: { next: () => bigint } = remote
const shard: number = (await connect({ urls: ['https://a', 'https://b'], layout: layouts.instagram })).decode(id).fields
  .shard
const small: number = (await connect({ url: 'https://a', layout: layouts.js53 })).nextNumber()
const anyLayout: IdClient = await connect({ url: 'https://a', layout: chosen })
const perhaps: number | undefined = anyLayout.nextNumber?.()
const numbers: NumberClient = await connect({ url: 'https://a', segment: 'orders', fetch, token: async () => 'mine' })
const counted: [number, ClientStats] = [numbers.nextNumber(), numbers.stats()]
{
  using _ = remote
}
// @ts-expect-error a twitter id has more than 53 bits
remote.nextNumber()
// @ts-expect-error numbers have no layout
numbers.decode(1n)
// @ts-expect-error numbers of a segment have no layout
connect({ url: 'https://a', segment: 'orders', layout: layouts.twitter })
// @ts-expect-error a client cannot choose the node
connect({ url: 'https://a', node: 7 })
export const clientsUsed = [nextRemote, shard, small, perhaps, counted]

// A number is an id only of a layout whose widths are known, and at most 53 bits together.
const narrowIds = createGenerator({ node: 3, layout: layouts.js53 })
const narrowNumber: number = narrowIds.nextNumber()
decode(narrowNumber, layouts.js53)
narrowIds.decode(narrowNumber)
timestampMsOf(narrowNumber, layouts.js53)
encodeId(narrowNumber, 'base62', layouts.js53)
uuidOf(narrowNumber, layouts.js53)
defineKind({ prefix: 'ord', layout: layouts.js53 }).text(narrowNumber)
export const read = (outside: unknown) => isId(outside, layouts.js53) && decode(outside, layouts.js53)
// @ts-expect-error twitter has 63 bits
decode(narrowNumber, layouts.twitter)
// @ts-expect-error twitter has 63 bits
createGenerator({ node: 3 }).decode(narrowNumber)
// @ts-expect-error twitter has 63 bits
timestampMsOf(narrowNumber, layouts.twitter)
// @ts-expect-error twitter has 63 bits
encodeId(narrowNumber, 'base62', layouts.twitter)
// @ts-expect-error no layout says that a number can hold the id
encodeId(narrowNumber, 'base62')
// @ts-expect-error twitter has 63 bits
uuidOf(narrowNumber, layouts.twitter)
// @ts-expect-error twitter has 63 bits
defineKind({ prefix: 'ord', layout: layouts.twitter }).text(narrowNumber)
// @ts-expect-error twitter has 63 bits
defineSerial({ pattern: '{sequence}', layout: layouts.twitter }).format(narrowNumber)
declare const unknownLayout: Layout
// @ts-expect-error the widths are not known
decode(narrowNumber, unknownLayout)
defineSerial({ pattern: '{sequence}', layout: layouts.js53 }).format(narrowNumber)
// A generator, a serial or a kind of any layout can be passed where the layout is not known.
createGenerator({ node: 3 }) satisfies IdGenerator
defineSerial({ pattern: '{sequence}', layout: layouts.js53 }) satisfies Serial
defineKind({ prefix: 'ord', layout: layouts.js53 }) satisfies Kind

// A listener gets the events of its type, and each entry has the types of its events.
export const listen = (lease: Lease) => {
  const end: () => void = lease.on('moved', (event) => [event.type satisfies 'moved', event satisfies LeaseEvent])
  // @ts-expect-error the lease exists only after this event
  lease.on('acquired', () => {})
  // @ts-expect-error no such event
  lease.on('move', () => {})
  return end
}
export type Events = [LeaseEvent, SegmentsEvent, EngineEvent, AheadEvent, AheadEventOfTests]

// Tags: a missing or misspelt tag does not compile, and a tag that has to be chosen hides `next`.
const tagged = defineLayout({
  name: 'tagged',
  epochMs: 0,
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 8],
    ['shard', 6, 'tag'],
    ['kind', 1, 'tag?'],
    ['sequence', 7],
  ],
})
const untagged = createGenerator({ node: { worker: 1 }, layout: tagged })
// @ts-expect-error the shard has to be chosen
untagged.next()
// @ts-expect-error the shard is missing
untagged.with({})
// @ts-expect-error the shard is misspelt, and missing
untagged.with({ shrad: 5 })
// @ts-expect-error no such tag
untagged.with({ shard: 5, kid: 1 })
// @ts-expect-error a tag is no part of the node
createGenerator({ node: { worker: 1, shard: 5 }, layout: tagged })
// @ts-expect-error the shard is missing
composeId({ timestampMs: 0, node: 1 }, tagged)
// @ts-expect-error the layout has no tags
createGenerator({ node: 1 }).with({})
export const shardOfId: number = decode(untagged.with({ shard: 5, kind: 1 }).next(), tagged).tags.shard

// The same of a client: it has views, and a tag that has to be chosen hides its calls.
const taggedClient: ClientOf<typeof tagged.fields> = await connect({ url: 'https://a', layout: tagged })
const clientView: ClientView<typeof tagged.fields> = taggedClient.with({ shard: 5 })
export const shardOfView: number = clientView.tags.shard
export const shardOfOther: number = clientView.decode(await clientView.with({ shard: 6, kind: 1 }).nextAsync()).tags
  .shard
// @ts-expect-error the shard has to be chosen
taggedClient.next()
// @ts-expect-error the shard has to be chosen
taggedClient.nextAsync()
// @ts-expect-error the shard is missing
taggedClient.with({})
// @ts-expect-error the shard is misspelt, and missing
taggedClient.with({ shrad: 5 })
// @ts-expect-error no such tag
taggedClient.with({ shard: 5, kid: 1 })
// @ts-expect-error no number
taggedClient.with({ shard: '5' })
// @ts-expect-error no such tag
clientView.tags.shrad
// @ts-expect-error a layout without tags has no views
remote.with({})
// A tag that has a default may be left out, so the client hands out ids itself, and is a source of views.
const optional = defineLayout({
  name: 'optional',
  epochMs: 0,
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 8],
    ['kind', 4, 'tag?'],
    ['sequence', 10],
  ],
})
const optionalClient: IdClient<typeof optional.fields> = await connect({ url: 'https://a', layout: optional })
const viewsOf: TagClient<typeof optional.fields> = optionalClient
export const kindsOfViews = [optionalClient.next(), viewsOf.with({}).next(), viewsOf.with({ kind: 3 }).tags.kind]
