// Declares `Disposable` for programs whose lib is older than ESNext and that have no @types/node.
/// <reference lib="esnext.disposable" preserve="true" />

import type { IdArray } from '../engine/engine.js'
import type { SegmentHandle } from './handle.js'
import type { SegmentStats } from './stats.js'

/**
 * Makes numbers of segments, which {@link createSegmentGenerator} fetches. Its calls are those of an IdGenerator; `next`,
 * `nextString`, `nextNumber` and `nextAsync` need no `this`.
 *
 * @example
 * const orders = await createSegmentGenerator({ store: memoryStore(), name: 'orders' })
 * orders.next() // 1n
 */
export interface SegmentGenerator extends Iterable<bigint>, Disposable {
  /** What is numbered. */
  readonly name: string
  /**
   * For `createSegmentGenerator({ handle })` in other threads of this process: pass it as `workerData` or in a message.
   *
   * @throws GraupelError `ERR_CLOSED`; `ERR_STATE_UNREACHABLE` where the platform has no memory that threads share.
   */
  readonly handle: SegmentHandle
  /**
   * Makes one number, larger than those that this generator has made before.
   *
   * @throws GraupelError `ERR_EMPTY`, `ERR_CLOSED`; RangeError `ERR_SEGMENT_OVERFLOW`. Nothing is issued then.
   */
  next(this: void): bigint
  /** Makes one number as a JavaScript number. @throws as `next`; RangeError `ERR_NUMBER_UNSAFE` above 2^53 - 1. */
  nextNumber(this: void): number
  /** Makes one number in decimal digits. @throws as `next` */
  nextString(this: void): string
  /** Makes one number, and waits for the store where none is left. Calls get theirs in the order in which they were made. @throws as `next` */
  nextAsync(this: void): Promise<bigint>
  /**
   * Fills an array with numbers in ascending order, and returns it.
   *
   * @throws TypeError, RangeError `ERR_ARRAY_INVALID`; as `next`, with `filled`: how many elements at the front hold numbers.
   */
  fill<A extends IdArray>(array: A): A
  /** Fills an array, and waits for the store where none is left. Do not use the array before the promise settles. @throws as `fill` */
  fillAsync<A extends IdArray>(array: A): Promise<A>
  /** Makes `count` numbers, 0 to 16 777 216. @throws TypeError, RangeError `ERR_OPTION_INVALID`; as `fill`. */
  take(count: number): bigint[]
  /** What it has made and has left. */
  stats(): SegmentStats
  /** Ends it; numbers that it has left are given to no other. Later calls throw `ERR_CLOSED`, and waiting ones reject with it. Ends those of its handle, too. */
  close(): void
}
