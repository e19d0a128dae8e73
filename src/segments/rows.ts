import { platform } from '#platform'
import { bufferGetter, byteOffsetGetter } from '../core/typed-array.js'
import { isJsForced } from '../engine/choose.js'
import type { IdArray } from '../engine/engine.js'
import { writeRow } from '../engine/js/id-writer.js'
import type { Binding } from '../engine/native/core.js'
import type { Run } from './run.js'

/** From so many numbers on, to cross into the addon is cheaper than to write them here: a fifth of the time for some thousands. */
const nativeFrom = 256

/** The addon's function; `null` where the addon is not to be had, and `undefined` until it is asked for. */
let writeNumbers: Binding['writeNumbers'] | null | undefined

/** Writes numbers of a run into an array. */
export function writeNumbersOf(run: Run, array: IdArray, from: number, count: number): void {
  if (count >= nativeFrom) {
    if (writeNumbers === undefined) writeNumbers = loadWriter()
    if (writeNumbers?.(array, from, from + count, run.next, run.stride)) return
  }
  const halves = new Int32Array(bufferGetter.call(array), byteOffsetGetter.call(array) + from * 8, count * 2)
  writeRow(halves, run.low, run.high, run.stride)
}

function loadWriter(): Binding['writeNumbers'] | null {
  if (isJsForced()) return null
  const loaded = platform.loadNative()
  return loaded.ok ? loaded.binding.writeNumbers : null
}
