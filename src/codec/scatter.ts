import { rangeError, show } from '../core/errors.js'
import { halves, high, low, whole } from '../core/typed-array.js'
import { type Field, type GivenId, genuineLayout, type Layout, loadId } from '../layout/index.js'

/**
 * Scatters an id for a database that splits its keys by ranges, such as Spanner, TiDB, CockroachDB or HBase:
 * ascending keys would all go to one server. Writes the bits of the id in reverse, within the width of the
 * layout. Scattered ids do not sort by time, and hide nothing: docs/databases.md says when they are wrong.
 *
 * @param id - A bigint of the layout, or its decimal digits. A number, with a layout of at most 53 bits.
 * @param layout - The layout of the id.
 * @param lanes - The number of lanes, in each of which keys ascend by time: a power of two from 2 to 2^bits
 * of the layout. The lowest bits of the id choose the lane: `sequenceStart: 'rotate'` fills all lanes alike.
 * Without it, all bits are reversed.
 * @throws TypeError, RangeError `ERR_ID_INVALID`; TypeError `ERR_LAYOUT_INVALID`; RangeError
 * `ERR_OPTION_INVALID` for lanes.
 * @example
 * const key = scatter(2125716401201586176n, layouts.twitter) // 833068398543068n
 * gather(key, layouts.twitter) // 2125716401201586176n
 * scatter(7n, layouts.twitter, 4) // 6917529027641081857n: lane 3
 */
export function scatter<F extends readonly Field[]>(id: GivenId<F>, layout: Layout<F>, lanes?: number): bigint {
  const { bits } = loadOf(id, layout)
  return lanes === undefined ? reversed(bits) : rotated(bits, bitsOf(lanes, bits))
}

/**
 * Returns the id that {@link scatter} was given.
 *
 * @param scattered - What `scatter` returned, as a bigint or its decimal digits.
 * @param layout - The layout of the id.
 * @param lanes - The lanes that `scatter` was given.
 * @throws as `scatter` does
 * @example
 * gather(scatter(7n, layouts.twitter, 16), layouts.twitter, 16) // 7n
 */
export function gather<F extends readonly Field[]>(scattered: GivenId<F>, layout: Layout<F>, lanes?: number): bigint {
  const { bits } = loadOf(scattered, layout)
  return lanes === undefined ? reversed(bits) : rotated(bits, bits - bitsOf(lanes, bits))
}

/** Writes an id to {@link whole}, and returns its layout. */
function loadOf<F extends readonly Field[]>(id: GivenId<F>, layout: Layout<F>): Layout<F> {
  const genuine = genuineLayout(layout)
  loadId(id, genuine)
  return genuine
}

/** The number in {@link whole}, with its lowest bits moved to the top. @param moved - How many bits move. */
function rotated(bits: number, moved: number): bigint {
  const value = whole[0] as bigint
  return (BigInt.asUintN(moved, value) << BigInt(bits - moved)) | (value >> BigInt(moved))
}

/** The lowest bits of {@link whole} in reverse order. */
function reversed(bits: number): bigint {
  const upper = reversed32(halves[high] as number)
  halves[high] = reversed32(halves[low] as number)
  halves[low] = upper
  return (whole[0] as bigint) >> BigInt(64 - bits)
}

/** Reverses 32 bits: swaps bits, then pairs, nibbles, bytes and halves (Hacker's Delight, 7-1). */
function reversed32(bits: number): number {
  bits = ((bits >>> 1) & 0x5555_5555) | ((bits & 0x5555_5555) << 1)
  bits = ((bits >>> 2) & 0x3333_3333) | ((bits & 0x3333_3333) << 2)
  bits = ((bits >>> 4) & 0x0f0f_0f0f) | ((bits & 0x0f0f_0f0f) << 4)
  bits = ((bits >>> 8) & 0x00ff_00ff) | ((bits & 0x00ff_00ff) << 8)
  return (bits >>> 16) | (bits << 16)
}

/** How many bits choose a lane. @throws RangeError `ERR_OPTION_INVALID` */
function bitsOf(lanes: unknown, bits: number): number {
  const laneBits = typeof lanes === 'number' ? Math.log2(lanes) : Number.NaN
  // Math.log2() rounds: of 2^53 - 1 it is 53, although that is no power of two.
  const isPower = Number.isInteger(laneBits) && 2 ** laneBits === lanes
  if (isPower && laneBits >= 1 && laneBits <= bits) return laneBits
  throw rangeError(
    'ERR_OPTION_INVALID',
    `lanes is ${show(lanes)}; it is a power of two from 2 to 2^${bits}, or left out`,
    'lanes',
  )
}
