import { high, low, two32 } from '../../core/halves.js'
import { bufferGetter, byteOffsetGetter } from '../../core/typed-array.js'
import type { CoreSpec, IdArray } from '../engine.js'
import type { SlotRange } from './slots.js'
import { type BaseId, writeNarrow, writeWide } from './write-ids.js'

/** Puts ids together from slots, for one layout and node. */
export class IdWriter {
  /** The sequence lies in the lower half of the id, where integer arithmetic does. */
  readonly #isNarrow: boolean
  readonly #capacity: number
  readonly #sequenceShift: number
  readonly #timestampShift: number
  readonly #nodeLow: number
  readonly #nodeHigh: number

  constructor(spec: CoreSpec) {
    this.#isNarrow = spec.sequenceShift + spec.sequenceBits <= 32
    this.#capacity = 2 ** spec.sequenceBits
    this.#sequenceShift = spec.sequenceShift
    this.#timestampShift = spec.timestampShift
    this.#nodeLow = Number(BigInt.asUintN(32, spec.nodeBits))
    this.#nodeHigh = Number(spec.nodeBits >> 32n)
  }

  setBase(base: BaseId, tick: number): void {
    // Exact: a product with a power of two only changes the exponent. Node and timestamp share no bit, so adding is or.
    const timestamp = tick * 2 ** this.#timestampShift
    base.baseLow = (timestamp % two32) + this.#nodeLow
    base.baseHigh = Math.floor(timestamp / two32) + this.#nodeHigh
  }

  /** Writes one id to the first element, seen as halves. */
  writeOne(halves: Uint32Array, base: BaseId, sequence: number): void {
    if (this.#isNarrow) {
      halves[low] = base.baseLow + (sequence << this.#sequenceShift)
      halves[high] = base.baseHigh
    } else {
      writeWide(halves, 1, base, sequence, this.#sequenceShift)
    }
  }

  /** Writes the ids of a range from `array[from]` on. */
  writeRange(array: IdArray, from: number, { tick, sequence, count }: SlotRange): void {
    const buffer = bufferGetter.call(array)
    const base: BaseId = { baseLow: 0, baseHigh: 0 }
    let atByte = byteOffsetGetter.call(array) + from * 8
    let left = count
    let first = sequence
    for (let current = tick; left > 0; current++) {
      const now = Math.min(left, this.#capacity - first)
      this.setBase(base, current)
      if (this.#isNarrow) writeNarrow(new Int32Array(buffer, atByte, now * 2), base, first, this.#sequenceShift)
      else writeWide(new Uint32Array(buffer, atByte, now * 2), now, base, first, this.#sequenceShift)
      atByte += now * 8
      left -= now
      first = 0
    }
  }
}
