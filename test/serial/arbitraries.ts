import fc from 'fast-check'
import { defineLayout, type Layout, type SerialOptions } from 'graupel'

const dayMs = 86_400_000
const units = ['yyyy', 'MM', 'dd', 'HH', 'mm', 'ss', 'SSS']
const lengths = [366 * dayMs, 31 * dayMs, dayMs, 3_600_000, 60_000, 1000, 1]

/**
 * Layouts whose years have four digits, with fields in any order, any length of a tick, and unusual epochs.
 */
const anyLayout: fc.Arbitrary<Layout> = fc
  .record({
    timestamp: fc.integer({ min: 1, max: 45 }),
    sequence: fc.integer({ min: 1, max: 25 }),
    nodes: fc.uniqueArray(
      fc.tuple(fc.constantFrom('node', 'worker', 'region', 'toString', 'y2'), fc.integer({ min: 1, max: 20 })),
      { maxLength: 3, selector: ([name]) => name },
    ),
    epochMs: fc.oneof(fc.integer({ min: -6e13, max: 2e14 }), fc.constantFrom(0, Date.UTC(2024, 0, 1))),
    tickMs: fc.constantFrom(1, 7, 10, 999, 1000, 1500, 60_000, 3_600_000, dayMs, 31 * dayMs, 366 * dayMs, 400 * dayMs),
    order: fc.array(fc.nat(), { minLength: 5, maxLength: 5 }),
  })
  .filter(({ timestamp, sequence, nodes, epochMs, tickMs }) => {
    const bits = nodes.reduce((sum, [, width]) => sum + width, 0)
    return bits <= 53 && bits + timestamp + sequence <= 64 && epochMs + 2 ** timestamp * tickMs < Date.UTC(9999, 0)
  })
  .map(({ timestamp, sequence, nodes, epochMs, tickMs, order }) => {
    const fields = shuffle([['timestamp', timestamp], ['sequence', sequence], ...nodes] as [string, number][], order)
    return defineLayout<readonly (readonly [string, number])[]>({
      name: 'any',
      epochMs,
      tickMs,
      fields,
      unsigned: true,
    })
  })

const literal = fc.oneof(
  fc.constant(''),
  fc.stringMatching(/^[0-9A-Za-z ._/-]{1,4}$/),
  fc.constantFrom('{{', '}}', '年', '😀'),
)

/** Patterns that a layout allows, in any order. */
function patternsFor(layout: Layout): fc.Arbitrary<string> {
  const { nodeFields, tickMs, epochMs, timestamp } = layout
  const needed = lengths.findIndex((lengthMs) => lengthMs <= tickMs)
  const years = [epochMs - dayMs, epochMs + 2 ** timestamp.bits * tickMs + dayMs].map((ms) =>
    new Date(ms).getUTCFullYear(),
  )
  const mayBeShort = (years[1] as number) - (years[0] as number) < 100
  const canJoin = nodeFields.length > 0 && !nodeFields.some(({ name }) => name === 'node')
  return fc
    .record({
      smallest: fc.integer({ min: needed, max: 6 }),
      isShort: fc.boolean(),
      isJoined: fc.boolean(),
      isNatural: fc.boolean(),
      extra: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 5, maxLength: 5 }),
      order: fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
      literals: fc.array(literal, { minLength: 13, maxLength: 13 }),
    })
    .map(({ smallest, isShort, isJoined, isNatural, extra, order, literals }) => {
      const times = units.slice(0, smallest + 1)
      if (isShort && mayBeShort) times[0] = 'yy'
      let placeholders = layout.placements.flatMap(({ name, bits }, i) => {
        if (name === 'timestamp') return times
        if (isJoined && canJoin && name !== 'sequence') return name === nodeFields[0]?.name ? ['node'] : []
        const width = String(2 ** bits - 1).length + (extra[i] as number)
        return extra[i] === 3 ? [name] : [`${name}:${width}`]
      })
      if (!isNatural) placeholders = shuffle(placeholders, order)
      return placeholders.map((placeholder, i) => `${literals[i]}{${placeholder}}`).join('') + literals[12]
    })
}

/** Options that defineSerial accepts. */
export const anyOptions: fc.Arbitrary<SerialOptions> = anyLayout.chain((layout) =>
  fc.record({
    layout: fc.constant(layout),
    pattern: patternsFor(layout),
    timeZone: fc.constantFrom('UTC', 'Z', '+08:00', '-03:30', '+14:00', '-14:00'),
  }),
)

/** Ids of a layout; its edges are likely. */
export function idsOf(layout: Layout): fc.Arbitrary<bigint> {
  return fc.bigInt({ min: 0n, max: 2n ** BigInt(layout.bits) - 1n })
}

function shuffle<T>(values: readonly T[], keys: readonly number[]): T[] {
  return values
    .map((value, i) => ({ value, key: keys[i] as number }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value)
}
