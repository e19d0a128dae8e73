import { rangeError, show, typeError } from '../core/errors.js'
import { bufferGetter, isBytes, kindOf, lengthGetter, setElements } from '../core/typed-array.js'
import type { IdArray } from '../state/engine.js'

const maxElements = 0xffff_ffff

/**
 * An array of this many bigints takes 512 MiB, 32 bytes for each. A much larger array would end the process.
 */
const maxTaken = 0x100_0000

/** Checks the argument of `take()`. @throws TypeError, RangeError `ERR_OPTION_INVALID` */
export function checkCount(count: unknown): asserts count is number {
  if (typeof count !== 'number') {
    throw typeError('ERR_OPTION_INVALID', `count is ${show(count)} (${typeof count}); pass how many ids to make`)
  }
  if (!Number.isInteger(count) || count < 0 || count > maxTaken) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `count is ${count}; pass a whole number from 0 to ${maxTaken}, or fill arrays for more`,
    )
  }
}

/** Returns the length of a typed array. A subclass cannot override it. */
export function lengthOf(array: IdArray): number {
  return lengthGetter.call(array)
}

/**
 * Copies numbers into an array. Does not call the array's own `set`: a subclass could override it, and keep
 * the memory.
 */
export function copyIds(array: IdArray, ids: BigUint64Array, at: number): void {
  setElements.call(array, ids, at)
}

/**
 * Checks that an array has 64-bit integers, over memory that stays in its place and belongs to this thread
 * alone.
 *
 * @throws TypeError, RangeError `ERR_ARRAY_INVALID`
 */
export function checkIdArray(array: unknown): asserts array is IdArray {
  const kind = kindOf.call(array)
  if (kind !== 'BigUint64Array' && kind !== 'BigInt64Array') {
    throw typeError(
      'ERR_ARRAY_INVALID',
      `the array is ${kind === undefined ? show(array) : `a ${kind}`}; pass a BigUint64Array or a BigInt64Array`,
    )
  }
  const length = checkMemory(array as IdArray)
  if (length > maxElements) {
    throw rangeError(
      'ERR_ARRAY_INVALID',
      `the array has ${length} elements; at most ${maxElements} can be filled at once`,
    )
  }
}

/**
 * Checks an array of bytes for UUIDs. Returns how many of 16 bytes it holds.
 *
 * @param at - The position for a single UUID; without it, UUIDs fill the whole array.
 * @throws TypeError, RangeError `ERR_ARRAY_INVALID`
 */
export function checkBytes(array: unknown, at?: number): number {
  if (!isBytes(array)) {
    throw typeError('ERR_ARRAY_INVALID', `the array is ${show(array)}; pass a Uint8Array`)
  }
  const length = checkMemory(array)
  if (at === undefined) {
    if (length % 16 === 0) return length / 16
    throw rangeError('ERR_ARRAY_INVALID', `the array has ${length} bytes; a UUID has 16: pass a multiple of 16`)
  }
  if (Number.isInteger(at) && at >= 0 && at + 16 <= length) return 1
  throw rangeError(
    'ERR_ARRAY_INVALID',
    `a UUID has 16 bytes, and position ${show(at)} of the array's ${length} has no room`,
  )
}

/**
 * Checks that an array is over memory that stays in its place and belongs to this thread alone. Returns its
 * length.
 */
function checkMemory(array: IdArray | Uint8Array): number {
  const buffer = bufferGetter.call(array)
  const length = lengthGetter.call(array)
  if (isShared(buffer)) {
    throw typeError(
      'ERR_ARRAY_INVALID',
      'the array is over a SharedArrayBuffer, where other threads could see ids half written; fill an array of your own and copy it',
    )
  }
  if ((buffer as { resizable?: boolean }).resizable) {
    throw typeError(
      'ERR_ARRAY_INVALID',
      'the array is over a resizable ArrayBuffer, which may shrink while it is being filled; pass an array of fixed length',
    )
  }
  if (length === 0 && isDetached(buffer)) {
    throw typeError(
      'ERR_ARRAY_INVALID',
      'the buffer of the array is detached: it was transferred to another thread; pass an array that is still yours',
    )
  }
  return length
}

/** Returns whether numbers of `bits` bits may be negative in the array. */
export function isSigned(array: IdArray, bits: number): boolean {
  return bits === 64 && kindOf.call(array) === 'BigInt64Array'
}

export function signError(): RangeError {
  return rangeError(
    'ERR_ARRAY_INVALID',
    'the numbers have reached 2^63, and are negative in a BigInt64Array; pass a BigUint64Array',
  )
}

function isDetached(buffer: ArrayBufferLike): boolean {
  try {
    new Uint8Array(buffer)
    return false
  } catch {
    return true
  }
}

/**
 * Returns true for shared buffers of all realms. A getter that throws would do, but costs more than filling
 * some thousand elements.
 */
function isShared(buffer: ArrayBufferLike): boolean {
  // The usual case first, because this test is ten times as fast.
  if (Object.getPrototypeOf(buffer) === ArrayBuffer.prototype) return false
  return Object.prototype.toString.call(buffer) === '[object SharedArrayBuffer]'
}
