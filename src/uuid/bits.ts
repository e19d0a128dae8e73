import { rangeError, show } from '../core/errors.js'
import { high, low } from '../core/typed-array.js'
import { type Layout, partOf, timeOf } from '../layout/index.js'

/** Version of a UUID that an id is written in: 7, or 8 for the same bits under another number. */
export type UuidVersion = 7 | 8

/** Least number of random bits among the 74 behind the time. */
const leastRandom = 40
/** So sequence and node have at most 34. */
const most = 74 - leastRandom
/** More would not fit an integer of 32 bits. */
const mostOfSequence = 32

/** The first millisecond that 48 bits do not hold. */
export const endMs = 2 ** 48

/**
 * Writes ids of a layout in the form of UUIDs (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then 74 bits, which are the
 * sequence, the node, and random ones. The sequence comes first, so UUIDs sort as the ids do.
 */
export class UuidBits {
  /** The bits that `set` has set: four words, the most significant first, as signed integers of 32 bits. */
  word0 = 0
  word1 = 0
  word2 = 0
  word3 = 0
  /** The random bits of the words 1 and 2. All bits of word 3 are random. */
  readonly random1: number
  readonly random2: number
  /** How many random words a UUID takes. */
  readonly words: number

  readonly #layout: Layout
  readonly #version: number
  /** The half of an id that has the lowest bit of the sequence, the place of this bit there, and the bits of a sequence. */
  readonly #isUpper: boolean
  readonly #from: number
  readonly #mask: number
  /** The shifts of a sequence to its bits in word 1, of which one is 0, and to those in word 2. */
  readonly #up: number
  readonly #down: number
  readonly #place: number
  /** The bits of an id that are not its sequence. They change once a tick, or if the node does. */
  readonly #keptHigh: number
  readonly #keptLow: number
  /** These bits of the last id, and what stands in words 1 and 2 while they stay: time, version, variant and node. */
  #high: number
  #low: number
  #kept1 = 0
  #kept2 = 0

  /** @throws RangeError `ERR_LAYOUT_INVALID` if too few bits are left for random ones. */
  constructor(layout: Layout, version: UuidVersion) {
    const { name, sequence, nodeBits } = layout
    const { bits, shift } = sequence
    const used = bits + nodeBits
    if (used > most || bits > mostOfSequence) {
      throw rangeError(
        'ERR_LAYOUT_INVALID',
        `layout ${show(name)} has ${bits} bits of sequence and ${nodeBits} of node, and a UUID needs ${leastRandom} random bits beside them; use a layout with at most ${most} bits of both, ${mostOfSequence} of them sequence`,
      )
    }
    this.#layout = layout
    this.#version = version << 12
    this.#isUpper = shift >= 32
    this.#from = shift & 31
    // V8 keeps a result of ** as a number with a fraction, which takes longer in operations on bits.
    this.#mask = (2 ** bits - 1) | 0
    this.#up = Math.max(12 - bits, 0)
    this.#down = Math.max(bits - 12, 0)
    this.#place = Math.min(most - bits, 31)
    const mask = ((1n << BigInt(bits)) - 1n) << BigInt(shift)
    this.#keptHigh = Number(BigInt.asIntN(32, ~(mask >> 32n)))
    this.#keptLow = Number(BigInt.asIntN(32, ~mask))
    // No id has bits of its sequence there.
    this.#high = ~this.#keptHigh
    this.#low = ~this.#keptLow
    this.random1 = (used < 12 ? 2 ** (12 - used) - 1 : 0) | 0
    this.random2 = (2 ** Math.min(30, 42 - used) - 1) | 0
    this.words = this.random1 === 0 ? 2 : 3
  }

  /**
   * Sets the words to those of an id in two halves of 32 bits.
   *
   * @param random - Numbers for the random bits, of which the UUID takes `words`, from `at` on.
   * @throws RangeError `ERR_ID_INVALID` if its time is before 1970 or after 48 bits of milliseconds.
   */
  set(high: number, low: number, random: Int32Array, at: number): void {
    const sequence = this.#sequenceOf(high, low)
    // With two words, no bits of this word are taken. A condition would take longer.
    const more = (random[at + this.words - 1] as number) & this.random1
    this.word1 = this.#kept1 | ((sequence << this.#up) >>> this.#down) | more
    this.word2 = this.#kept2 | placed(sequence, this.#place) | ((random[at] as number) & this.random2)
    this.word3 = random[at + 1] as number
  }

  /**
   * Writes as many UUIDs as a view holds, as `set` does, but a run at a time: consecutive ids of a tick share all but their sequence.
   *
   * @param halves - The ids, each in two elements in the order of the machine.
   * @param random - Numbers for the random bits. Each UUID takes `words`, from `at` on.
   */
  write(halves: Uint32Array, view: DataView, random: Int32Array, at: number): void {
    const count = view.byteLength / 16
    for (let from = 0; from < count; ) {
      const upper = halves[2 * from + high] as number
      const lower = halves[2 * from + low] as number
      const sequence = this.#sequenceOf(upper, lower)
      // A step after the last sequence of a tick would change the field beside it.
      const most = ((this.#mask - sequence) >>> 0) + 1
      const to = this.#runEnd(halves, from, Math.min(count, from + most))
      this.#writeRun(view, from, to, sequence, random, at + from * this.words)
      from = to
    }
  }

  /** Returns the first index, up to `most`, whose id is not one sequence above the id before it. */
  #runEnd(halves: Uint32Array, from: number, most: number): number {
    const step = 1 << this.#from
    const [up, down] = this.#isUpper ? [step, 0] : [0, step]
    let upper = (halves[2 * from + high] as number) | 0
    let lower = (halves[2 * from + low] as number) | 0
    // V8 would read the imported constant in each turn.
    const distance = high - low
    for (let at = from + 1, i = 2 * at + low; at < most; at++, i += 2) {
      upper = (upper + up) | 0
      lower = (lower + down) | 0
      if (((halves[i + distance] as number) | 0) !== upper || ((halves[i] as number) | 0) !== lower) return at
    }
    return most
  }

  #writeRun(view: DataView, from: number, to: number, sequence: number, random: Int32Array, at: number): void {
    // Variables, because V8 reads fields again after each write.
    const { random1, random2, words, word0 } = this
    const [kept1, kept2, up, down, place] = [this.#kept1, this.#kept2, this.#up, this.#down, this.#place]
    const start = 16 * from
    const end = 16 * to
    for (let byte = start, taken = at; byte < end; byte += 16, taken += words, sequence = (sequence + 1) | 0) {
      view.setInt32(byte, word0)
      view.setInt32(byte + 4, kept1 | ((sequence << up) >>> down))
      view.setInt32(byte + 8, kept2 | placed(sequence, place) | ((random[taken] as number) & random2))
      view.setInt32(byte + 12, random[taken + 1] as number)
    }
    // Few layouts have random bits in word 1.
    if (random1 === 0) return
    for (let byte = start + 4, taken = at + 2; byte < end; byte += 16, taken += words) {
      view.setInt32(byte, view.getInt32(byte) | ((random[taken] as number) & random1))
    }
  }

  /** Returns the sequence of an id. Sets time and node before, if they differ from those of the last id. */
  #sequenceOf(high: number, low: number): number {
    if ((high & this.#keptHigh) !== this.#high || (low & this.#keptLow) !== this.#low) this.#turn(high, low)
    return bitsFrom(this.#isUpper ? high : low, high, this.#from) & this.#mask
  }

  #turn(high: number, low: number): void {
    const { nodeFields, sequence, nodeBits } = this.#layout
    const ms = timeOf(this.#layout, high, low)
    if (!(ms >= 0 && ms < endMs)) {
      throw rangeError(
        'ERR_ID_INVALID',
        `the time of the id is ${ms} ms, and a UUID holds 0 to 2^48 - 1 since 1970; check the epoch of layout ${show(this.#layout.name)}`,
      )
    }
    let node = 0
    for (const field of nodeFields) node = node * 2 ** field.bits + partOf(high, low, field)
    node *= 2 ** (most - sequence.bits - nodeBits)
    this.word0 = (ms / 2 ** 16) | 0
    this.#kept1 = ((ms % 2 ** 16) << 16) | this.#version | (node / 2 ** 22)
    this.#kept2 = 0x8000_0000 | ((node & 0x3f_ffff) << 8)
    this.#high = high & this.#keptHigh
    this.#low = low & this.#keptLow
  }
}

/** The 32 bits from a place of a half on, of which the upper half may have some. */
function bitsFrom(half: number, upper: number, from: number): number {
  return (half >>> from) | ((upper << 1) << (31 - from))
}

/** The lowest bits of a sequence in their place in word 2. */
function placed(sequence: number, place: number): number {
  return ((sequence << place) & 0x3f_ffff) << 8
}

/** Reads the sequence and the node back from the words 1 and 2. */
export function countedOf(layout: Layout, word1: number, word2: number): { sequence: number; node: number } {
  const { sequence, nodeBits } = layout
  const counted = (word1 & 0xfff) * 2 ** 22 + ((word2 >>> 8) & 0x3f_ffff)
  const used = Math.floor(counted / 2 ** (most - sequence.bits - nodeBits))
  const value = Math.floor(used / 2 ** nodeBits)
  return { sequence: value, node: used - value * 2 ** nodeBits }
}
