import { rangeError } from '../core/errors.js'

/** Numbers `first`, `first + stride`, and so on. They are never given to another process. */
export interface Segment {
  readonly first: bigint
  /** How many numbers; at least 1. */
  readonly count: number
}

/** The source of segments. */
export interface SegmentSource {
  /** Names the store, for messages: `redis`. */
  readonly name: string
  /**
   * Takes up to `count` numbers, or as many as the table says; fewer if the range ends. If it rejects, the
   * numbers that it took are lost.
   *
   * @throws RangeError `ERR_SEGMENT_OVERFLOW`; GraupelError as {@link StoreCalls}, `ERR_STATE_MISMATCH`,
   * `ERR_STATE_CORRUPT`; the reason of the signal.
   */
  take(count: number | undefined, signal?: AbortSignal): Promise<Segment>
}

/** The largest distance from one number to the next. */
export const maxStride = 65_535

/** The numbers that segments may have. */
export interface Range {
  /** The first number. */
  readonly start: bigint
  /** No number is larger. */
  readonly max: bigint
  /** Every number n has n mod `stride` = `offset` mod `stride`. */
  readonly stride: number
  readonly offset: number
}

/**
 * Computes the next numbers of a range.
 *
 * @param from - No number is smaller.
 * @throws RangeError `ERR_SEGMENT_OVERFLOW` if none is left.
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

/** Returns the last number of a segment. */
export function lastOf({ first, count }: Segment, { stride }: Pick<Range, 'stride'>): bigint {
  return first + BigInt(count - 1) * BigInt(stride)
}
