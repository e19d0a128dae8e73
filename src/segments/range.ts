import { rangeError } from '../core/errors.js'
import type { Segment } from './source.js'

/** The largest distance from one number to the next. */
export const maxStride = 65_535

/** Which numbers segments may have. */
export interface Range {
  /** The first number of all. */
  readonly start: bigint
  /** No number is larger. */
  readonly max: bigint
  /** Every number n has n mod `stride` = `offset` mod `stride`. */
  readonly stride: number
  readonly offset: number
}

/**
 * The next numbers of a range.
 *
 * @param from - No number is smaller.
 * @throws RangeError `ERR_SEGMENT_OVERFLOW` where none is left.
 */
export function nextSegment({ max, stride, offset }: Range, from: bigint, count: number): Segment {
  const width = BigInt(stride)
  const gap = (BigInt(offset) - from) % width
  const first = from + (gap < 0n ? gap + width : gap)
  if (first > max) {
    throw rangeError(
      'ERR_SEGMENT_OVERFLOW',
      `the next number is ${first}, and max is ${max}; begin another name, or raise max`,
    )
  }
  const left = (max - first) / width + 1n
  return { first, count: left < BigInt(count) ? Number(left) : count }
}

/** The last number of a segment. */
export function lastOf({ first, count }: Segment, { stride }: Pick<Range, 'stride'>): bigint {
  return first + BigInt(count - 1) * BigInt(stride)
}
