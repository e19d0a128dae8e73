import fc from 'fast-check'
import { composeId, defineLayout, type Layout, layouts } from 'graupel'
import { createUuidGenerator, decodeUuid, type IdSource, uuidBytes } from 'graupel/uuid'
import { expect, it } from 'vitest'

const define = (name: string, ...fields: [string, number][]) => defineLayout({ name, epochMs: 0, tickMs: 1, fields })

const cases: readonly Layout[] = [
  layouts.twitter,
  layouts.wide,
  layouts.discord,
  define('sequence in the upper half', ['timestamp', 42], ['sequence', 6], ['worker', 12]),
  define('sequence on top', ['sequence', 12], ['timestamp', 42], ['worker', 9]),
  define('sequence across the halves', ['timestamp', 42], ['sequence', 12], ['worker', 9]),
  define('random bits in three words', ['timestamp', 48], ['worker', 4], ['sequence', 3]),
  define('sequence alone', ['timestamp', 43], ['sequence', 20]),
]

// UUIDs of the js engine are written by TypeScript, and those of any other source by the addon: texts, and from 256 on bytes.
const engines = ['js', 'native'] as const
type Engine = (typeof engines)[number]
const each = engines.flatMap((engine) => cases.map((layout) => [engine, layout.name, layout] as const))

/** A source that hands out the ids of an array, in the order of the array. */
function sourceOf(engine: Engine, layout: Layout, ids: readonly bigint[]): IdSource {
  let at = 0
  const next = () => ids[at++] as bigint
  const fill = <A extends BigInt64Array | BigUint64Array>(array: A) => {
    for (let i = 0; i < array.length; i++) array[i] = next()
    return array
  }
  return {
    engine,
    layout,
    next,
    fill,
    nextAsync: async () => next(),
    fillAsync: async (array) => fill(array),
  } as IdSource
}

/** Times, nodes and sequences that jump and run on, also from the last sequence of a node to the first of the next. */
function idsOf(layout: Layout) {
  const nodes = 2 ** layout.nodeBits
  const sequences = 2 ** layout.sequence.bits
  const start = fc.record({
    tick: fc.integer({ min: 0, max: 2 ** 40 }),
    node: fc.integer({ min: 0, max: nodes - 1 }),
    sequence: fc.oneof(
      fc.integer({ min: 0, max: sequences - 1 }),
      fc.integer({ min: 1, max: 5 }).map((i) => sequences - i),
    ),
    length: fc.integer({ min: 1, max: 40 }),
    step: fc.constantFrom(1, 1, 1, 2, -1),
  })
  return fc.array(start, { minLength: 1, maxLength: 8 }).map((runs) =>
    runs.flatMap(({ tick, node, sequence, length, step }) =>
      Array.from({ length }, (_, i) => {
        const slot = node * sequences + sequence + step * i
        const place = ((slot % (nodes * sequences)) + nodes * sequences) % (nodes * sequences)
        const timestampMs = layout.epochMs + Math.min(tick, layout.maxTick) * layout.tickMs
        return composeId({ timestampMs, node: Math.floor(place / sequences), sequence: place % sequences }, layout)
      }),
    ),
  )
}

it.each(each)('fill writes the ids of any source: %s, %s', (engine, _, layout) => {
  fc.assert(
    fc.property(idsOf(layout), (some) => {
      const ids = Array.from({ length: Math.ceil(256 / some.length) }, () => some).flat()
      const bytes = createUuidGenerator({ ids: sourceOf(engine, layout, ids) }).fill(new Uint8Array(16 * ids.length))
      expect(ids.map((_, i) => decodeUuid(bytes.subarray(16 * i, 16 * i + 16), layout).id)).toEqual(ids)
    }),
  )
})

it.each(each)('next writes the ids of any source: %s, %s', (engine, _, layout) => {
  fc.assert(
    fc.property(idsOf(layout), (ids) => {
      const uuids = createUuidGenerator({ ids: sourceOf(engine, layout, ids) })
      const texts = ids.map(() => uuids.next())
      expect(texts.filter((text) => text !== text.toLowerCase())).toEqual([])
      expect(texts.map((text) => decodeUuid(text, layout).id)).toEqual(ids)
    }),
  )
})

it.each(each)('fill and next leave the same bits to chance: %s, %s', (engine, _, layout) => {
  const id = composeId({ timestampMs: layout.epochMs + 1000 * layout.tickMs, node: 0, sequence: 1 }, layout)
  const uuids = createUuidGenerator({ ids: sourceOf(engine, layout, new Array(800).fill(id)) })
  const byFill = uuids.fill(new Uint8Array(16 * 400))
  const byNext = Array.from({ length: 400 }, () => [...uuidBytes(uuids.next())]).flat()
  const changing = (bytes: ArrayLike<number>) => {
    const bits = new Array<number>(16).fill(0)
    for (let i = 16; i < bytes.length; i++)
      bits[i % 16] = (bits[i % 16] as number) | ((bytes[i % 16] as number) ^ (bytes[i] as number))
    return bits
  }
  // Each of the random bits is equal in all 400 UUIDs with a probability of 2^-399.
  const random = changing(byFill)
  expect(random).toEqual(changing(byNext))
  const count = random.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0)
  expect(count).toBe(74 - layout.nodeBits - layout.sequence.bits)
})

// A UUID of three random words leaves a part of the pool over.
it.each(each)('no two UUIDs of a fill share their random bits: %s, %s', (engine, _, layout) => {
  const id = composeId({ timestampMs: layout.epochMs, node: 0, sequence: 1 }, layout)
  const count = 20_000
  const bytes = createUuidGenerator({ ids: sourceOf(engine, layout, new Array(count).fill(id)) }).fill(
    new Uint8Array(16 * count),
  )
  const texts = Array.from({ length: count }, (_, i) => Buffer.from(bytes.buffer, 16 * i, 16).toString('latin1'))
  // Of 20 000 UUIDs with 40 random bits, a pair is equal with a probability of 2 in 10 000; these have 42 or more.
  expect(new Set(texts).size).toBeGreaterThan(count - 3)
})
