import { createRequire } from 'node:module'
import fc from 'fast-check'
import { composeId, defineLayout, type EngineKind, engineInfo, type Layout, layouts } from 'graupel'
import { createUuidGenerator, decodeUuid, type IdSource, uuidBytes } from 'graupel/uuid'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { caught, engines } from '../support/engines.ts'
import { describeWith } from '../support/needs.ts'

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

// UUIDs of the js engine are written by TypeScript. The addon writes the texts of all others, and their bytes
// in long runs.
const each = engines.flatMap((engine) => cases.map((layout) => [engine, layout.name, layout] as const))

/** A source that hands out the ids of an array, in the order of the array. */
function sourceOf(engine: EngineKind, layout: Layout, ids: readonly bigint[]): IdSource {
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

/** Compares the ids of UUIDs. `expect` itself takes longer than all else. */
function expectIds(found: readonly bigint[], ids: readonly bigint[]): void {
  if (found.length !== ids.length || found.some((id, i) => id !== ids[i])) expect(found).toEqual(ids)
}

/**
 * Times, nodes and sequences that jump and run on, also from the last sequence of a node to the first of the
 * next.
 */
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

const longRuns = new Map<Layout, readonly bigint[]>()

/** Two long runs: ids of one time and node, of which some have equal sequences if the layout has few. */
function long(layout: Layout): readonly bigint[] {
  const made = longRuns.get(layout) ?? makeLong(layout)
  longRuns.set(layout, made)
  return made
}

function makeLong(layout: Layout): bigint[] {
  const run = (node: number) =>
    Array.from({ length: 300 }, (_, i) => {
      const timestampMs = layout.epochMs + 1000 * layout.tickMs
      return composeId({ timestampMs, node, sequence: i % 2 ** layout.sequence.bits }, layout)
    })
  return layout.nodeBits === 0 ? run(0) : [...run(0), ...run(1)]
}

it.each(each)('fill writes the ids of any source: %s, %s', (engine, _, layout) => {
  fc.assert(
    fc.property(idsOf(layout), (some) => {
      const ids = [...some, ...long(layout), ...some]
      const bytes = createUuidGenerator({ ids: sourceOf(engine, layout, ids) }).fill(new Uint8Array(16 * ids.length))
      const found = ids.map((_, i) => decodeUuid(bytes.subarray(16 * i, 16 * i + 16), layout).id)
      expectIds(found, ids)
    }),
    { numRuns: 50 },
  )
})

it.each(each)('next writes the ids of any source: %s, %s', (engine, _, layout) => {
  fc.assert(
    fc.property(idsOf(layout), (ids) => {
      const uuids = createUuidGenerator({ ids: sourceOf(engine, layout, ids) })
      const texts = ids.map(() => uuids.next())
      expect(texts.filter((text) => text !== text.toLowerCase())).toEqual([])
      const found = texts.map((text) => decodeUuid(text, layout).id)
      expectIds(found, ids)
    }),
    { numRuns: 50 },
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

it.each(each)('each random word is used once, in its place: %s, %s', (engine, _, layout) => {
  let next = 1
  const drawn = vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
    const words = array as unknown as Int32Array
    for (let i = 0; i < words.length; i++) words[i] = next++
    return array
  })
  const id = composeId({ timestampMs: layout.epochMs, node: 0, sequence: 0 }, layout)
  const count = 20_000
  const uuids = createUuidGenerator({ ids: sourceOf(engine, layout, new Array(count).fill(id)) })
  const view = new DataView(uuids.fill(new Uint8Array(16 * count)).buffer)
  drawn.mockRestore()
  const used = layout.nodeBits + layout.sequence.bits
  const random1 = used < 12 ? 2 ** (12 - used) - 1 : 0
  const random2 = 2 ** Math.min(30, 42 - used) - 1
  let before = 0
  for (let i = 0; i < count; i++) {
    // The last 32 bits are the second word of the UUID.
    const second = view.getInt32(16 * i + 12)
    const others = [view.getInt32(16 * i + 8) & random2, view.getInt32(16 * i + 4) & random1]
    const expected = [(second - 1) & random2, (second + 1) & random1]
    if (others[0] !== expected[0] || others[1] !== expected[1]) expect(others, `UUID ${i}`).toEqual(expected)
    const first = second - 1
    if (first <= before) expect(first, `UUID ${i}`).toBeGreaterThan(before)
    before = random1 === 0 ? second : second + 1
  }
  expect(before).toBeGreaterThan(2 * count - 1)
})

describeWith(['native'], 'the addon', () => {
  let addon: Record<'uuidText' | 'writeUuids', () => unknown>
  beforeAll(() => {
    // The cache of `require` has the object that the library uses.
    addon = createRequire(import.meta.url)(engineInfo().file as string)
  })
  afterEach(() => vi.restoreAllMocks())

  it('writes UUIDs, but not those of a source on the js engine, and no short runs', () => {
    const texts = vi.spyOn(addon, 'uuidText')
    const writes = vi.spyOn(addon, 'writeUuids')
    const callsOf = (engine: EngineKind, length: number) => {
      const ids = [...long(layouts.wide), ...long(layouts.wide)].slice(0, length)
      const uuids = createUuidGenerator({ ids: sourceOf(engine, layouts.wide, [...ids, 1n]) })
      uuids.fill(new Uint8Array(16 * length))
      uuids.next()
      const calls = [writes.mock.calls.length, texts.mock.calls.length]
      writes.mockClear()
      texts.mockClear()
      return calls
    }
    expect(callsOf('js', 600)).toEqual([0, 0])
    expect(callsOf('native', 300)).toEqual([1, 1])
    expect(callsOf('native', 600)).toEqual([2, 1])
    expect(callsOf('native', 100)).toEqual([0, 1])
  })

  it('leaves no UUID out if its calls fail', () => {
    vi.spyOn(addon, 'uuidText').mockReturnValue(undefined)
    vi.spyOn(addon, 'writeUuids').mockReturnValue(undefined)
    const ids = long(layouts.wide)
    const uuids = createUuidGenerator({ ids: sourceOf('native', layouts.wide, [...ids, ...ids]) })
    const bytes = uuids.fill(new Uint8Array(16 * ids.length))
    expect(ids.map((_, i) => decodeUuid(bytes.subarray(16 * i, 16 * i + 16), layouts.wide).id)).toEqual(ids)
    expect(ids.map(() => decodeUuid(uuids.next(), layouts.wide).id)).toEqual(ids)
  })
})

it('fill refuses an array that is transferred while it takes ids', () => {
  const array = new Uint8Array(16 * 400)
  const source = sourceOf('js', layouts.wide, long(layouts.wide))
  const fill = (ids: BigUint64Array) => {
    structuredClone(0, { transfer: [array.buffer] })
    return ids
  }
  const uuids = createUuidGenerator({ ids: { ...source, fill } as IdSource })
  expect(caught(() => uuids.fill(array)).code).toBe('ERR_ARRAY_INVALID')
})

it('nextBytes refuses an array that is transferred while it takes an id', () => {
  const array = new Uint8Array(16)
  const source = sourceOf('js', layouts.wide, long(layouts.wide))
  const next = () => {
    structuredClone(0, { transfer: [array.buffer] })
    return source.next()
  }
  const uuids = createUuidGenerator({ ids: { ...source, next } as IdSource })
  expect(caught(() => uuids.nextBytes(array)).code).toBe('ERR_ARRAY_INVALID')
})
