import { type Layout, layouts } from 'graupel'
import { makeSameIds } from '../../../src/inspect/reading.ts'

const two53 = 2n ** 53n
const two63 = 2n ** 63n

/** Facts that follow from a layout. Times are milliseconds since 1970. */
export interface Facts {
  readonly largest: bigint
  /** The first moment with ids that are no safe integers; `undefined` if there is none. */
  readonly unsafeFromMs: number | undefined
  /** The first moment with ids that a signed 64-bit number shows as negative. */
  readonly negativeFromMs: number | undefined
  /** Types that hold every id. */
  readonly sqlTypes: readonly { readonly database: string; readonly type: string }[]
  readonly sortsByTime: boolean
  /** A node field is below the sequence, so ids of different nodes interleave within a tick. */
  readonly sequenceAboveNode: boolean
  /**
   * Node fields and tags above the sequence. An id that is larger than an observed id may then need another
   * tick. Empty for a layout whose ids cannot be observed.
   */
  readonly aboveSequence: readonly string[]
}

export function factsOf(layout: Layout): Facts {
  const largest = largestOf(layout)
  return {
    largest,
    unsafeFromMs: firstMsAbove(layout, two53 - 1n),
    negativeFromMs: firstMsAbove(layout, two63 - 1n),
    sqlTypes: sqlTypesOf(layout),
    sortsByTime: sortsByTime(layout),
    sequenceAboveNode: layout.nodeFields.some(({ shift }) => shift < layout.sequence.shift),
    aboveSequence: aboveSequence(layout),
  }
}

/** Tells whether every other field is below the timestamp, so later ids are larger. */
export function sortsByTime({ timestamp, bits }: Layout): boolean {
  return timestamp.shift + timestamp.bits === bits
}

function aboveSequence(layout: Layout): string[] {
  if (!sortsByTime(layout)) return []
  // The timestamp is the first.
  const others = layout.placements.slice(1)
  return others.filter(({ shift }) => shift > layout.sequence.shift).map(({ name }) => name)
}

function largestOf(layout: Layout): bigint {
  const below = layout.placements
    .filter(({ name }) => name !== 'timestamp')
    .reduce((sum, { bits, shift }) => sum | (((1n << BigInt(bits)) - 1n) << BigInt(shift)), 0n)
  return (BigInt(layout.maxTick) << BigInt(layout.timestamp.shift)) | below
}

/**
 * Returns the start of the first tick with ids above a number. If the timestamp is not the first field, any
 * tick may have such ids.
 */
function firstMsAbove(layout: Layout, number: bigint): number | undefined {
  if (largestOf(layout) <= number) return undefined
  if (!sortsByTime(layout)) return layout.epochMs
  // The largest id of a tick has ones in all lower bits.
  const tick = (number + 1n) >> BigInt(layout.timestamp.shift)
  return layout.epochMs + Number(tick) * layout.tickMs
}

function sqlTypesOf({ bits }: Layout): Facts['sqlTypes'] {
  const signed = bits <= 63
  return [
    { database: 'PostgreSQL', type: signed ? 'bigint' : 'numeric(20)' },
    { database: 'MySQL, MariaDB', type: signed ? 'BIGINT' : 'BIGINT UNSIGNED' },
    { database: 'SQLite', type: signed ? 'INTEGER' : 'TEXT' },
    { database: 'SQL Server', type: signed ? 'bigint' : 'decimal(20)' },
    { database: 'Oracle', type: `NUMBER(${(2n ** BigInt(bits)).toString().length})` },
  ]
}

/** The relation between the ids of a layout and the ids of a preset, from now on. */
export interface Neighbour {
  readonly preset: Layout
  /**
   * `same`: equal nodes make equal ids. `overlap`: the ids lie in one range of numbers. `apart`: no two are
   * equal.
   */
  readonly relation: 'same' | 'overlap' | 'apart'
}

export function neighboursOf(layout: Layout, nowMs: number): Neighbour[] {
  return Object.values(layouts).map((preset) => ({ preset, relation: relationOf(layout, preset, nowMs) }))
}

function relationOf(a: Layout, b: Layout, nowMs: number): Neighbour['relation'] {
  if (makeSameIds(a, b)) return 'same'
  const [fromA, toA] = rangeFrom(a, nowMs)
  const [fromB, toB] = rangeFrom(b, nowMs)
  return fromA <= toB && fromB <= toA ? 'overlap' : 'apart'
}

/** Returns the smallest and the largest id from a time on, or of all times if the layout has run out. */
function rangeFrom(layout: Layout, nowMs: number): readonly [bigint, bigint] {
  const isOver = nowMs >= layout.expiresAt.getTime()
  const tick = isOver ? 0 : Math.max(0, Math.floor((nowMs - layout.epochMs) / layout.tickMs))
  const smallest = sortsByTime(layout) ? BigInt(tick) << BigInt(layout.timestamp.shift) : 0n
  return [smallest, largestOf(layout)]
}
