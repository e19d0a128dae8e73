import { rangeError, show } from '../core/errors.js'
import { type Layout, partOf, timeOf } from '../layout/index.js'

/** Version of a UUID that an id is written in: 7, or 8 for the same bits under another number. */
export type UuidVersion = 7 | 8

/** Least number of random bits among the 74 behind the time. */
const leastRandom = 40
/** So sequence and node have at most 34. */
const most = 74 - leastRandom

/** The first millisecond that 48 bits do not hold. */
export const endMs = 2 ** 48

/**
 * Writes ids of a layout in the form of UUIDs (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then 74 bits, which are the
 * sequence, the node, and random ones. The sequence comes first, so UUIDs sort as the ids do.
 */
export class UuidBits {
  /**
   * The bits of the last id: four words, the most significant first. The random bits of words 1 and 2 are zero after `set`, and the
   * caller sets word 3.
   */
  word0 = 0
  word1 = 0
  word2 = 0
  word3 = 0
  /** The random bits of the words 1 and 2. All of word 3 is random. */
  readonly random1: number
  readonly random2: number

  readonly #layout: Layout
  readonly #version: number
  /** One in the sequence, and one in the node, among the 34 bits. */
  readonly #sequenceUnit: number
  readonly #nodeUnit: number
  /** The bits of an id that are not its sequence. They change once a tick, or if the node does. */
  readonly #keptHigh: number
  readonly #keptLow: number
  // No id has this upper half.
  #high = 2 ** 32
  #low = 0
  #time = 0
  #node = 0

  /** @throws RangeError `ERR_LAYOUT_INVALID` if too few bits are left for random ones. */
  constructor(layout: Layout, version: UuidVersion) {
    const { name, sequence, nodeBits } = layout
    const used = sequence.bits + nodeBits
    if (used > most) {
      throw rangeError(
        'ERR_LAYOUT_INVALID',
        `layout ${show(name)} has ${used} bits of sequence and node; a UUID has room for ${most}, beside ${leastRandom} random bits`,
      )
    }
    this.#layout = layout
    this.#version = version << 12
    this.#sequenceUnit = 2 ** (most - sequence.bits)
    this.#nodeUnit = 2 ** (most - used)
    const mask = ((1n << BigInt(sequence.bits)) - 1n) << BigInt(sequence.shift)
    this.#keptHigh = Number(BigInt.asIntN(32, ~(mask >> 32n)))
    this.#keptLow = Number(BigInt.asIntN(32, ~mask))
    this.random1 = used < 12 ? 2 ** (12 - used) - 1 : 0
    this.random2 = 2 ** Math.min(30, 42 - used) - 1
  }

  /**
   * Sets the words to those of an id in two halves of 32 bits.
   *
   * @throws RangeError `ERR_ID_INVALID` if its time is before 1970 or after 48 bits of milliseconds.
   */
  set(high: number, low: number): void {
    if ((high & this.#keptHigh) !== this.#high || (low & this.#keptLow) !== this.#low) this.#turn(high, low)
    const counted = partOf(high, low, this.#layout.sequence) * this.#sequenceUnit + this.#node
    const top = Math.floor(counted / 2 ** 22)
    this.word1 = this.#time | top
    this.word2 = 0x8000_0000 | ((counted - top * 2 ** 22) << 8)
  }

  #turn(high: number, low: number): void {
    const ms = timeOf(this.#layout, high, low)
    if (!(ms >= 0 && ms < endMs)) {
      throw rangeError('ERR_ID_INVALID', `the time of the id is ${ms} ms; a UUID holds 0 to 2^48 - 1 since 1970`)
    }
    this.word0 = Math.floor(ms / 2 ** 16)
    this.#time = ((ms % 2 ** 16) << 16) | this.#version
    this.#node = 0
    for (const field of this.#layout.nodeFields) this.#node = this.#node * 2 ** field.bits + partOf(high, low, field)
    this.#node *= this.#nodeUnit
    this.#high = high & this.#keptHigh
    this.#low = low & this.#keptLow
  }
}

/** Reads the sequence and the node back from the words 1 and 2. */
export function countedOf(layout: Layout, word1: number, word2: number): { sequence: number; node: number } {
  const { sequence, nodeBits } = layout
  const counted = (word1 & 0xfff) * 2 ** 22 + ((word2 >>> 8) & 0x3f_ffff)
  const used = Math.floor(counted / 2 ** (most - sequence.bits - nodeBits))
  const value = Math.floor(used / 2 ** nodeBits)
  return { sequence: value, node: used - value * 2 ** nodeBits }
}
