import { platform } from '#platform'
import { uuidText } from '../codec/uuid.js'
import { rangeError, typeError } from '../core/errors.js'
import { bufferGetter, byteOffsetGetter } from '../core/typed-array.js'
import { checkBytes, checkCount } from '../numbers/array.js'
import { iterate } from '../numbers/numbers.js'
import { endMs } from './bits.js'
import { pool, take } from './pool.js'

/**
 * Makes UUIDs without a node. Made by {@link createRandomUuidGenerator}. No call waits. All calls can be
 * passed as functions. A {@link UuidGenerator} has these calls too, so code for this type takes either.
 *
 * @example
 * const uuids = createRandomUuidGenerator()
 * uuids.take(2).length // 2
 */
export interface RandomUuidGenerator extends Iterable<string> {
  /** Makes one UUID, in small letters. @throws RangeError `ERR_CLOCK_INVALID` */
  next(this: void): string
  /**
   * Makes one UUID as 16 bytes, the most significant first.
   *
   * @param target - The array to write to. @default a new Uint8Array
   * @param at - The position of the first byte, if there is a `target`. @default 0
   * @throws TypeError, RangeError `ERR_ARRAY_INVALID`; as `next`.
   */
  nextBytes(this: void, target?: Uint8Array, at?: number): Uint8Array
  /**
   * Fills an array with UUIDs of 16 bytes in ascending order, and returns it. All have the time of the call.
   *
   * @throws TypeError, RangeError `ERR_ARRAY_INVALID`, also if its length is no multiple of 16; as `next`.
   */
  fill<A extends Uint8Array>(this: void, array: A): A
  /** Makes `count` UUIDs, 0 to 16 777 216. @throws TypeError, RangeError `ERR_OPTION_INVALID`; as `next`. */
  take(this: void, count: number): string[]
}

/** The time and the count of the last UUID. @internal */
export interface LastUuid {
  ms: number
  /** 32 bits, as a signed integer. */
  count: number
}

/** The last UUID of this thread. All its generators go on from there. */
const lastOfThread: LastUuid = { ms: Number.NEGATIVE_INFINITY, count: 0 }

/**
 * Makes a generator of UUIDs (RFC 9562, version 7) without a node, for browsers, phones and scripts. Two of
 * its UUIDs are distinct by probability alone: the 73 random bits of each are its only protection. A {@link
 * createUuidGenerator} needs a node, and promises that they are distinct.
 *
 * The UUIDs of a thread ascend. If the clock steps back, they keep the time of the last UUID, and count on.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE` in a startup snapshot; TypeError `ERR_OPTION_UNKNOWN` for an
 * argument, because there are no options.
 * @example
 * const uuids = createRandomUuidGenerator()
 * decodeUuid(uuids.next()).version // 7
 */
export function createRandomUuidGenerator(): RandomUuidGenerator
export function createRandomUuidGenerator(...given: unknown[]): RandomUuidGenerator {
  if (given.length > 0) {
    throw typeError('ERR_OPTION_UNKNOWN', 'there are no options; pass a node to createUuidGenerator, or nothing here')
  }
  platform.refuseSnapshot?.()
  return randomUuids(platform.wallMs, lastOfThread)
}

/**
 * Makes a generator that goes on from a last UUID. Behind the time are a count of 32 bits and 42 random bits
 * (RFC 9562, section 6.2, method 1). In each millisecond the count begins with 31 random bits below a
 * 0, so there is room for 2^31 UUIDs.
 *
 * @param last - Changed by each UUID.
 * @param taken - Takes random words, and returns the index of the first in `words`.
 * @internal
 */
export function randomUuids(clock: () => number, last: LastUuid, taken = take, words = pool): RandomUuidGenerator {
  const begin = (ms: number): void => {
    if (!(ms >= 0 && ms < endMs)) {
      throw rangeError(
        'ERR_CLOCK_INVALID',
        `the clock shows ${ms} ms, and a UUID holds 0 to 2^48 - 1 since 1970; set the clock of this machine`,
      )
    }
    last.ms = ms
    last.count = (words[taken(1)] as number) & 0x7fff_ffff
  }
  /** Moves `last` to the next UUID, for a reading of the clock. */
  const move = (now: number): void => {
    // Not `now > last.ms`: `begin` has to see what is no number.
    if (!(now <= last.ms)) begin(now)
    else if (last.count === -1) begin(last.ms + 1)
    else last.count = (last.count + 1) | 0
  }
  const make = <T>(now: number, use: (a: number, b: number, c: number, d: number) => T): T => {
    move(now)
    const { ms, count } = last
    const at = taken(2)
    return use(
      (ms / 2 ** 16) | 0,
      ((ms % 2 ** 16) << 16) | 0x7000 | (count >>> 20),
      0x8000_0000 | ((count & 0xf_ffff) << 10) | ((words[at] as number) & 0x3ff),
      words[at + 1] as number,
    )
  }
  const next = () => make(clock(), uuidText)
  const write = <A extends Uint8Array>(array: A, from: number, count: number): A => {
    const now = clock()
    const view = new DataView(bufferGetter.call(array), byteOffsetGetter.call(array) + from)
    for (let at = 0; at < 16 * count; at += 16) {
      make(now, (a, b, c, d) => {
        view.setInt32(at, a)
        view.setInt32(at + 4, b)
        view.setInt32(at + 8, c)
        view.setInt32(at + 12, d)
      })
    }
    return array
  }
  return {
    next,
    nextBytes(target, at = 0) {
      // Without an array, the second argument is the index that Array.from() passes.
      if (target === undefined) return write(new Uint8Array(16), 0, 1)
      return write(target, at, checkBytes(target, at))
    },
    fill: (array) => write(array, 0, checkBytes(array)),
    take(count) {
      checkCount(count)
      const now = clock()
      return Array.from({ length: count }, () => make(now, uuidText))
    },
    [Symbol.iterator]: () => iterate(next),
  }
}
