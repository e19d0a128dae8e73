import { createGenerator, defineLayout, layouts } from 'graupel'
import { testGenerator } from 'graupel/testing'
import { createUuidGenerator, decodeUuid, parseUuid } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'

const pattern = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe.each(engines)('UUIDs on the %s engine', (engine) => {
  const open = (more: object = {}) =>
    createUuidGenerator({ node: 7, layout: layouts.wide, engine, namespace: freshNamespace(), ...more })

  it('are of version 7, and ascend as text and as bytes, by every call', async () => {
    const uuids = open()
    const [iterated] = uuids
    const filled = await uuids.fillAsync(uuids.fill(new Uint8Array(16 * 3000)))
    const texts = [
      uuids.next(),
      await uuids.nextAsync(),
      parseUuid(uuids.nextBytes()),
      ...uuids.take(3000),
      ...textsOf(uuids.fill(new Uint8Array(16 * 3000))),
    ]
    const all = [iterated as string, ...textsOf(filled), ...texts]
    expect(all.filter((text) => !pattern.test(text))).toEqual([])
    expect(all).toEqual([...new Set(all)].sort())
    uuids.close()
    expect(caught(() => uuids.next())).toMatchObject({ code: 'ERR_CLOSED' })
  })

  it('and ids of one key share no slot', () => {
    const namespace = freshNamespace()
    const uuids = open({ namespace })
    const ids = createGenerator({ node: 7, layout: layouts.wide, engine, namespace })
    const slots: bigint[] = []
    for (let i = 0; i < 2000; i++) {
      slots.push(decodeUuid(uuids.next(), layouts.wide).id, ids.next(), uuids.ids.next())
      slots.push(...textsOf(uuids.fill(new Uint8Array(64))).map((text) => decodeUuid(text, layouts.wide).id))
    }
    expect(new Set(slots).size).toBe(slots.length)
  })

  it('keep their order when the clock steps back', () => {
    let nowMs = Date.UTC(2030, 0, 1)
    const uuids = open({ clock: () => nowMs, onOverflow: 'advance' })
    const made = [uuids.next()]
    for (const step of [-500, 300, -600, 2000, -1]) {
      nowMs += step
      made.push(...uuids.take(10))
    }
    expect(made).toEqual([...made].sort())
  })
})

it('UUIDs have the time, the node and the sequence of the id, and random bits elsewhere', () => {
  const clock = () => Date.UTC(2026, 0, 1)
  const uuids = createUuidGenerator({ ids: testGenerator({ node: 7, clock }), version: 8 })
  const [first, second] = uuids.take(2) as [string, string]
  expect(first.slice(0, 22)).toBe('019b76da-a800-8000-807')
  expect(second.slice(0, 22)).toBe('019b76da-a800-8001-807')
  expect(first.slice(22)).not.toBe(second.slice(22))
  expect(decodeUuid(second, layouts.twitter)).toMatchObject({ version: 8, node: 7, sequence: 1, timestampMs: clock() })
})

it('each random bit is set in some UUIDs, and not in others', () => {
  const bytes = createUuidGenerator({ ids: testGenerator({ node: 7 }) }).fill(new Uint8Array(16 * 1000))
  const set = new Uint8Array(16)
  const unset = new Uint8Array(16)
  for (const [at, byte] of bytes.entries()) {
    set[at % 16] = (set[at % 16] as number) | byte
    unset[at % 16] = (unset[at % 16] as number) | ~byte
  }
  // 52 bits with the layout twitter: half of byte 9, and all bytes behind it.
  expect([...set.slice(10), (set[9] as number) & 15]).toEqual([255, 255, 255, 255, 255, 255, 15])
  expect([...unset.slice(10), (unset[9] as number) & 15]).toEqual([255, 255, 255, 255, 255, 255, 15])
})

it('layouts may have their fields in another order, and 34 bits of sequence and node', () => {
  const layout = defineLayout({
    ...{ name: 'mixed', epochMs: Date.UTC(2020, 0, 1), tickMs: 1000 },
    fields: [
      ['sequence', 15],
      ['zone', 3],
      ['timestamp', 29],
      ['worker', 16],
    ],
  })
  const ids = testGenerator({ layout, node: { zone: 5, worker: 0xabcd } })
  const uuids = createUuidGenerator({ ids })
  const before = ids.next()
  const made = uuids.take(100)
  expect(
    made
      .map((text) => decodeUuid(text, layout).id)
      .every((id, i) => ids.decode(id).sequence === ids.decode(before).sequence + 1 + i),
  ).toBe(true)
  expect(decodeUuid(made[0] as string, layout).fields).toEqual({ zone: 5, worker: 0xabcd })
  expect(made).toEqual([...made].sort())
})

it.each<[string, () => unknown, string]>([
  ['a layout of 35 bits', () => createUuidGenerator({ ids: testGenerator({ layout: tooWide }) }), 'ERR_LAYOUT_INVALID'],
  ['another version', () => createUuidGenerator({ node: 1, version: 4 as 7 }), 'ERR_OPTION_INVALID'],
  ['an unknown option', () => createUuidGenerator({ node: 1, versions: 7 } as object), 'ERR_OPTION_UNKNOWN'],
  ['an inherited option', () => createUuidGenerator(Object.create({ node: 1 })), 'ERR_OPTION_INVALID'],
  ['no object', () => createUuidGenerator(7 as never), 'ERR_OPTION_INVALID'],
  ['ids and a node', () => createUuidGenerator({ ids: testGenerator(), node: 7 } as never), 'ERR_OPTION_INVALID'],
  ['no ids', () => createUuidGenerator({ ids: 7 as never }), 'ERR_OPTION_INVALID'],
])('refuses %s', (_, call, code) => {
  expect(caught(call)).toMatchObject({ code })
})

it('says how to pass a generator', () => {
  const message = 'the options are a generator or a client; pass it as { ids: … }'
  expect(caught(() => createUuidGenerator(testGenerator() as never))).toMatchObject({
    code: 'ERR_OPTION_INVALID',
    message,
  })
})

it.each<[string, unknown, number | undefined]>([
  ['15 bytes', new Uint8Array(15), undefined],
  ['shared memory', new Uint8Array(new SharedArrayBuffer(16)), undefined],
  ['numbers of another kind', new Uint16Array(16), undefined],
  ['a position without room', new Uint8Array(20), 5],
  ['a position below 0', new Uint8Array(20), -1],
  ['null', null, 0],
])('refuses to write to %s, and makes no id', (_, array, at) => {
  const uuids = createUuidGenerator({ ids: testGenerator() })
  const call = () => (at === undefined ? uuids.fill(array as Uint8Array) : uuids.nextBytes(array as Uint8Array, at))
  expect(caught(call)).toMatchObject({ code: 'ERR_ARRAY_INVALID' })
  expect(uuids.stats().issued).toBe(0)
})

it('a fill that fails says how many UUIDs it has made', () => {
  let nowMs = Date.UTC(2030, 0, 1)
  const uuids = createUuidGenerator({ node: 3, clock: () => nowMs, onOverflow: 'throw', engine: 'js', state: 'thread' })
  const bytes = new Uint8Array(16 * 5000)
  expect(caught(() => uuids.fill(bytes))).toMatchObject({ code: 'ERR_SEQUENCE_OVERFLOW', filled: 4096 })
  expect(new Set(textsOf(bytes).slice(0, 4096)).size).toBe(4096)
  expect(bytes.subarray(16 * 4096).every((byte) => byte === 0)).toBe(true)
  nowMs++
  expect(pattern.test(uuids.next())).toBe(true)
})

it('a fill whose clock throws says how many UUIDs it has made', () => {
  let reads = 0
  const error: Error & { filled?: number } = new Error('own')
  const clock = () => {
    if (++reads > 8) throw error
    return Date.UTC(2030, 0, 1) + reads
  }
  const uuids = createUuidGenerator({ node: 3, clock, onOverflow: 'throw', engine: 'js', state: 'thread' })
  const bytes = new Uint8Array(16 * 50_000)
  expect(caught(() => uuids.fill(bytes))).toBe(error)
  const made = error.filled ?? 0
  expect(made).toBeGreaterThan(0)
  expect(new Set(textsOf(bytes).slice(0, made)).size).toBe(made)
  expect(bytes.subarray(16 * made).every((byte) => byte === 0)).toBe(true)
})

const tooWide = defineLayout({
  ...{ name: 'too wide', epochMs: Date.UTC(2020, 0, 1), tickMs: 10_000 },
  fields: [
    ['timestamp', 28],
    ['node', 20],
    ['sequence', 15],
  ],
})

function textsOf(bytes: Uint8Array): string[] {
  return Array.from({ length: bytes.length / 16 }, (_, i) => parseUuid(bytes.subarray(16 * i, 16 * i + 16)))
}
