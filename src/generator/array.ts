import { rangeError, show, typeError } from '../core/errors.js'
import { bufferGetter, kindOf, lengthGetter, setElements } from '../core/typed-array.js'
import type { IdArray } from '../engine/engine.js'
import type { Layout } from '../layout/index.js'

const maxElements = 2 ** 32 - 1

/** An array of so many bigints takes 512 MiB, 32 bytes for each. Much more would end the process. */
const maxTaken = 2 ** 24

/** @throws TypeError, RangeError `ERR_OPTION_INVALID` unless so many ids can be taken at once. */
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

/** How many elements a typed array has. A subclass cannot override it. */
export function lengthOf(array: IdArray): number {
  return lengthGetter.call(array)
}

/** Copies ids to a place of an array. Not by its own `set`: that of a subclass may call back, and gets no hold of the memory. */
export function copyIds(array: IdArray, ids: BigUint64Array, at: number): void {
  setElements.call(array, ids, at)
}

/**
 * @throws TypeError `ERR_ARRAY_INVALID` unless it is an array of 64-bit integers over memory that stays where it is and
 * belongs to this thread alone.
 */
export function checkIdArray(array: unknown): asserts array is IdArray {
  const kind = kindOf.call(array)
  if (kind !== 'BigUint64Array' && kind !== 'BigInt64Array') {
    throw typeError(
      'ERR_ARRAY_INVALID',
      `the array is ${kind === undefined ? show(array) : `a ${kind}`}; pass a BigUint64Array or a BigInt64Array`,
    )
  }
  const buffer = bufferGetter.call(array)
  const length = lengthOf(array as IdArray)
  if (isShared(buffer)) {
    throw typeError(
      'ERR_ARRAY_INVALID',
      'the array is over a SharedArrayBuffer, where other threads could see ids half written; fill an array of your own and copy it',
    )
  }
  if ((buffer as { resizable?: boolean }).resizable) {
    throw typeError(
      'ERR_ARRAY_INVALID',
      'the array is over a resizable ArrayBuffer, which may shrink while it is being filled; pass one of fixed length',
    )
  }
  if (length === 0 && isDetached(buffer)) {
    throw typeError(
      'ERR_ARRAY_INVALID',
      'the buffer of the array is detached: it was transferred to another thread; pass an array that is still yours',
    )
  }
  if (length > maxElements) {
    throw rangeError(
      'ERR_ARRAY_INVALID',
      `the array has ${length} elements; at most ${maxElements} can be filled at once`,
    )
  }
}

/** @throws RangeError `ERR_ARRAY_INVALID` where ids of this moment are negative in a BigInt64Array; for a layout of 64 bits. */
export function checkSign(layout: Layout, node: number, nowMs: number): void {
  const top = layout.placements[0] as { name: string; bits: number }
  const half = 2 ** (top.bits - 1)
  const value =
    top.name === 'timestamp'
      ? Math.floor((nowMs - layout.epochMs) / layout.tickMs)
      : top.name === 'sequence'
        ? half
        : node / 2 ** (layout.nodeBits - top.bits)
  if (value >= half) throw signError(layout)
}

/** Whether ids of the layout may turn negative in the array. */
export function isSigned(array: IdArray, layout: Pick<Layout, 'bits'>): boolean {
  return layout.bits === 64 && kindOf.call(array) === 'BigInt64Array'
}

export function signError(layout: Layout): RangeError {
  return rangeError(
    'ERR_ARRAY_INVALID',
    `ids of layout '${layout.name}' have reached 2^63, which a BigInt64Array shows as negative; pass a BigUint64Array`,
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

/** True for buffers of all realms. A getter that throws would tell, too, and cost more than filling some thousand ids. */
function isShared(buffer: ArrayBufferLike): boolean {
  // The usual case, and ten times as fast.
  if (Object.getPrototypeOf(buffer) === ArrayBuffer.prototype) return false
  return Object.prototype.toString.call(buffer) === '[object SharedArrayBuffer]'
}
