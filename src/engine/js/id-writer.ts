import { bufferGetter, byteOffsetGetter, high, low, two32 } from '../../core/typed-array.js'
import type { CoreSpec, IdArray } from '../../state/engine.js'
import type { SlotRange } from '../slots.js'

/** The id with sequence number 0 of a tick, in two halves of 32 bits. */
export interface BaseId {
  baseLow: number
  baseHigh: number
}

/** The layout and the node of ids. Generators of one state have them in common. */
export type IdGeometry = Pick<
  CoreSpec,
  'epochMs' | 'tickMs' | 'maxTick' | 'sequenceBits' | 'sequenceShift' | 'timestampShift' | 'nodeBits'
>

/** Copies the geometry of a spec, which has a user's function besides. */
export function geometryOf(spec: CoreSpec): IdGeometry {
  const { epochMs, tickMs, maxTick, sequenceBits, sequenceShift, timestampShift, nodeBits } = spec
  return { epochMs, tickMs, maxTick, sequenceBits, sequenceShift, timestampShift, nodeBits }
}

/** Composes ids from slots, for one layout and node, and the tags of a view. */
export class IdWriter {
  /** The sequence lies in the lower half of the id, so integer arithmetic suffices. */
  readonly #isNarrow: boolean
  readonly #capacity: number
  readonly #sequenceShift: number
  readonly #timestampShift: number
  readonly #nodeLow: number
  readonly #nodeHigh: number
  readonly #tagLow: number
  readonly #tagHigh: number

  /** @param tagBits - The tags, shifted as in an id. */
  constructor(geometry: IdGeometry, tagBits = 0n) {
    this.#tagLow = Number(BigInt.asUintN(32, tagBits))
    this.#tagHigh = Number(tagBits >> 32n)
    this.#isNarrow = geometry.sequenceShift + geometry.sequenceBits <= 32
    this.#capacity = 2 ** geometry.sequenceBits
    this.#sequenceShift = geometry.sequenceShift
    this.#timestampShift = geometry.timestampShift
    this.#nodeLow = Number(BigInt.asUintN(32, geometry.nodeBits))
    this.#nodeHigh = Number(geometry.nodeBits >> 32n)
  }

  /** Sets the base of a tick, without tags, because all views share a run. */
  setBase(base: BaseId, tick: number): void {
    // Exact: a product with a power of two only changes the exponent. Node and timestamp share no bit, so
    // adding is or.
    const timestamp = tick * 2 ** this.#timestampShift
    base.baseLow = (timestamp % two32) + this.#nodeLow
    base.baseHigh = Math.floor(timestamp / two32) + this.#nodeHigh
  }

  /** Writes one id to the first element, whose halves are given. */
  writeOne(halves: Uint32Array, base: BaseId, sequence: number): void {
    if (this.#isNarrow) {
      halves[low] = base.baseLow + this.#tagLow + (sequence << this.#sequenceShift)
      halves[high] = base.baseHigh + this.#tagHigh
    } else {
      writeWide(halves, 1, base, sequence, this.#sequenceShift)
      halves[low] = (halves[low] as number) + this.#tagLow
      halves[high] = (halves[high] as number) + this.#tagHigh
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
      base.baseLow += this.#tagLow
      base.baseHigh += this.#tagHigh
      if (this.#isNarrow) writeNarrow(new Int32Array(buffer, atByte, now * 2), base, first, this.#sequenceShift)
      else writeWide(new Uint32Array(buffer, atByte, now * 2), now, base, first, this.#sequenceShift)
      atByte += now * 8
      left -= now
      first = 0
    }
  }
}

/**
 * Writes ids of consecutive sequence numbers, if the sequence lies in the lower half of the id.
 *
 * @param halves - The halves of the elements to fill.
 * @param first - The sequence number of the first id.
 */
function writeNarrow(halves: Int32Array, base: BaseId, first: number, shift: number): void {
  writeRow(halves, ((base.baseLow | 0) + (first << shift)) | 0, base.baseHigh | 0, 1 << shift)
}

/**
 * Writes numbers that ascend by a stride and have the same upper half.
 *
 * @param halves - The halves of the elements to fill.
 */
export function writeRow(halves: Int32Array, lower: number, upper: number, stride: number): void {
  if (low === 0) writeBoth(halves, lower, stride, upper, 0)
  else writeBoth(halves, upper, 0, lower, stride)
}

/**
 * Writes an ascending row to the even elements, which begins with `even`, and another row to the odd ones.
 *
 * Takes 1.2 ns an id on Node 20, one id at a time 1.7 ns, and 1.9 ns with variables as indexes or with
 * computed bounds: V8 knows that a length is an integer, but not that 2 ** 16 is.
 */
function writeBoth(halves: Int32Array, even: number, evenStride: number, odd: number, oddStride: number): void {
  // Tells V8 that these are integers of 32 bits. It cannot know that of an argument above 2^30.
  even |= 0
  odd |= 0
  evenStride |= 0
  oddStride |= 0
  const end = halves.length
  let at = 0
  for (; at + 8 <= end; at += 8) {
    halves[at] = even
    halves[at + 1] = odd
    halves[at + 2] = (even + evenStride) | 0
    halves[at + 3] = (odd + oddStride) | 0
    halves[at + 4] = (even + 2 * evenStride) | 0
    halves[at + 5] = (odd + 2 * oddStride) | 0
    halves[at + 6] = (even + 3 * evenStride) | 0
    halves[at + 7] = (odd + 3 * oddStride) | 0
    even = (even + 4 * evenStride) | 0
    odd = (odd + 4 * oddStride) | 0
  }
  for (; at < end; at += 2) {
    halves[at] = even
    halves[at + 1] = odd
    even = (even + evenStride) | 0
    odd = (odd + oddStride) | 0
  }
}

/**
 * Writes ids of consecutive sequence numbers, if the sequence reaches into the upper half of the id, or lies
 * there.
 */
function writeWide(halves: Uint32Array, count: number, base: BaseId, first: number, shift: number): void {
  for (let i = 0; i < count; i++) {
    // Exact: a product with a power of two only changes the exponent. Fields share no bit, so adding is or.
    const placed = (first + i) * 2 ** shift
    halves[i * 2 + low] = base.baseLow + (placed % two32)
    halves[i * 2 + high] = base.baseHigh + Math.floor(placed / two32)
  }
}
