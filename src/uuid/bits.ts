import { rangeError, show } from '../core/errors.js'
import { high, low } from '../core/typed-array.js'
import { type Layout, partOf, timeOf } from '../layout/index.js'
import type { NativeUuids } from '../numbers/addon.js'

/** Version of a UUID that an id is written in: 7, or 8 for the same bits under another number. */
export type UuidVersion = 7 | 8

/** Least number of random bits among the 74 behind the time. */
const leastRandom = 40
/** So sequence and node have at most 34. */
const most = 74 - leastRandom
/** More would not fit an integer of 32 bits. */
const mostOfSequence = 32

/**
 * The addon writes runs of at least this many ids with one time and node: its call takes as long as a hundred
 * UUIDs in JavaScript.
 */
const nativeFrom = 128

/** The first millisecond that 48 bits do not hold. */
export const endMs = 2 ** 48

/**
 * Writes ids of a layout in the form of UUIDs (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then 74
 * bits, which are the sequence, the node, and random ones. The sequence comes first, so UUIDs sort as the ids
 * do.
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
  /**
   * The half of an id that has the lowest bit of the sequence, the position of this bit there, and the bits
   * of a sequence.
   */
  readonly #isUpper: boolean
  readonly #from: number
  readonly #mask: number
  /** The shifts of a sequence to its bits in word 1, of which one is 0, and to those in word 2. */
  readonly #up: number
  readonly #down: number
  readonly #shift: number
  /** The bits of an id that are not its sequence. They change once a tick, or if the node does. */
  readonly #keptHigh: number
  readonly #keptLow: number
  /**
   * These bits of the last id, and what stands in words 1 and 2 while they stay: time, version, variant and
   * node.
   */
  #high: number
  #low: number
  #kept1 = 0
  #kept2 = 0

  /** @throws RangeError `ERR_LAYOUT_INVALID` if too few bits are left for random ones. */
  constructor(layout: Layout, version: UuidVersion) {
    const { name, sequence, nodeBits } = layout
    const { bits, shift } = sequence
    const used = bits + heldBits(layout)
    if (used > most || bits > mostOfSequence) {
      throw rangeError(
        'ERR_LAYOUT_INVALID',
        `layout ${show(name)} has ${bits} bits of sequence and ${nodeBits} of node${tagText(layout)}, and a UUID needs ${leastRandom} random bits beside them; use a layout with at most ${most} bits of both, ${mostOfSequence} of them sequence`,
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
    this.#shift = Math.min(most - bits, 31)
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
  set(upper: number, lower: number, random: Int32Array, at: number): void {
    if (!this.#isKept(upper, lower)) this.#turn(upper, lower)
    const sequence = bitsFrom(this.#isUpper ? upper : lower, upper, this.#from) & this.#mask
    // With two words, no bits of this word are taken. A condition would take longer.
    const more = (random[at + this.words - 1] as number) & this.random1
    this.word1 = this.#kept1 | ((sequence << this.#up) >>> this.#down) | more
    this.word2 = this.#kept2 | placed(sequence, this.#shift) | ((random[at] as number) & this.random2)
    this.word3 = random[at + 1] as number
  }

  /**
   * Writes ids as UUIDs to the front of an array, each as `set` does.
   *
   * @param random - Numbers for the random bits, of which each UUID takes `words`.
   * @param native - Writes long runs of ids that differ in their sequence alone.
   */
  writeMany(ids: BigUint64Array, random: Int32Array, uuids: Uint8Array, native?: NativeUuids): void {
    const halves = new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length)
    const view = new DataView(uuids.buffer, uuids.byteOffset)
    for (let i = 0; i < ids.length; ) {
      this.set(halves[2 * i + high] as number, halves[2 * i + low] as number, random, i * this.words)
      const far = i + nativeFrom - 1
      if (native !== undefined && far < ids.length && this.#isKept(halves[2 * far + high], halves[2 * far + low])) {
        const taken = random.subarray(i * this.words)
        const written = native.writeMany(ids, i, ids.length, this.#frame(), taken, uuids.subarray(16 * i))
        if (written !== undefined) {
          i += written
          continue
        }
      }
      view.setInt32(16 * i, this.word0)
      view.setInt32(16 * i + 4, this.word1)
      view.setInt32(16 * i + 8, this.word2)
      view.setInt32(16 * i + 12, this.word3)
      i++
    }
  }

  /** The fields of `UuidFrame` (`native/core/uuid.h`), with time and node of the last id. */
  #frame(): BigUint64Array {
    return BigUint64Array.of(
      joined(~this.#keptHigh, ~this.#keptLow),
      joined(this.word0, this.#kept1),
      joined(this.#kept2, 0),
      joined(0, this.random1),
      joined(this.random2, -1),
    )
  }

  /** Whether an id has the time and the node of the last id. */
  #isKept(upper: number | undefined, lower: number | undefined): boolean {
    return ((upper as number) & this.#keptHigh) === this.#high && ((lower as number) & this.#keptLow) === this.#low
  }

  #turn(upper: number, lower: number): void {
    const { nodeFields, tagFields, sequence } = this.#layout
    const ms = timeOf(this.#layout, upper, lower)
    if (!(ms >= 0 && ms < endMs)) {
      throw rangeError(
        'ERR_ID_INVALID',
        `the time of the id is ${ms} ms, and a UUID holds 0 to 2^48 - 1 since 1970; check the epoch of layout ${show(this.#layout.name)}`,
      )
    }
    let node = 0
    for (const field of [...nodeFields, ...tagFields]) node = node * 2 ** field.bits + partOf(upper, lower, field)
    node *= 2 ** (most - sequence.bits - heldBits(this.#layout))
    this.word0 = (ms / 2 ** 16) | 0
    this.#kept1 = ((ms % 2 ** 16) << 16) | this.#version | (node / 2 ** 22)
    this.#kept2 = 0x8000_0000 | ((node & 0x3f_ffff) << 8)
    this.#high = upper & this.#keptHigh
    this.#low = lower & this.#keptLow
  }
}

/** A number of 64 bits of its halves. */
function joined(upper: number, lower: number): bigint {
  return (BigInt(upper >>> 0) << 32n) | BigInt(lower >>> 0)
}

/** The 32 bits from a position of a half on, of which the upper half may have some. */
function bitsFrom(half: number, upper: number, from: number): number {
  return (half >>> from) | ((upper << 1) << (31 - from))
}

/** The lowest bits of a sequence in their place in word 2. */
function placed(sequence: number, shift: number): number {
  return ((sequence << shift) & 0x3f_ffff) << 8
}

/** Bits of the node and of the tags, which stand behind the sequence. */
function heldBits({ nodeBits, tagFields }: Layout): number {
  return tagFields.reduce((sum, { bits }) => sum + bits, nodeBits)
}

function tagText(layout: Layout): string {
  const bits = heldBits(layout) - layout.nodeBits
  return bits === 0 ? '' : ` and ${bits} of tags`
}

/** Reads the sequence, the node and the tags back from the words 1 and 2. */
export function countedOf(layout: Layout, word1: number, word2: number) {
  const held = heldBits(layout)
  const counted = (word1 & 0xfff) * 2 ** 22 + ((word2 >>> 8) & 0x3f_ffff)
  const used = Math.floor(counted / 2 ** (most - layout.sequence.bits - held))
  const sequence = Math.floor(used / 2 ** held)
  let rest = used - sequence * 2 ** held
  const tags: Record<string, number> = {}
  for (const { name, bits } of layout.tagFields.toReversed()) {
    tags[name] = rest % 2 ** bits
    rest = Math.floor(rest / 2 ** bits)
  }
  return { sequence, node: rest, tags }
}
