import { bufferGetter, byteOffsetGetter, two32 } from '../core/typed-array.js'
import { writeRow } from '../engine/js/id-writer.js'
import type { IdArray } from '../state/engine.js'
import { findAddon } from './addon.js'

/** From this many numbers on, the addon writes them in a fifth of the time that JavaScript takes. */
const nativeFrom = 256

/** Writes numbers that ascend by a stride from `array[from]` on, by the addon if there are many. */
export function writeRun(array: IdArray, from: number, count: number, first: bigint, stride: number): void {
  if (count >= nativeFrom && findAddon()?.writeNumbers(array, from, from + count, first, stride)) return
  const buffer = bufferGetter.call(array)
  let atByte = byteOffsetGetter.call(array) + from * 8
  let lower = Number(BigInt.asUintN(32, first))
  let upper = Number(first >> 32n)
  for (let left = count; left > 0; ) {
    const now = Math.min(left, Math.floor((two32 - 1 - lower) / stride) + 1)
    writeRow(new Int32Array(buffer, atByte, now * 2), lower, upper, stride)
    const next = lower + now * stride
    lower = next % two32
    upper += Math.floor(next / two32)
    atByte += now * 8
    left -= now
  }
}
