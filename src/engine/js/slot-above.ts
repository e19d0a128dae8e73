import { high, low, two32 } from '../../core/typed-array.js'
import { partOf } from '../../layout/index.js'
import type { CoreSpec } from '../../state/engine.js'

type Places = Pick<CoreSpec, 'timestampShift' | 'sequenceShift' | 'sequenceBits' | 'nodeBits' | 'maxTick'>

/** A number of 64 bits in two halves, without signs. */
type Halves = readonly [upper: number, lower: number]

/**
 * Finds the least slot of a node whose id is larger than an id of any node. The timestamp has to be the most
 * significant field: the ids of the later slots are then larger, too. `native/core/observed.h` in TypeScript,
 * and docs/order.md has the argument.
 */
export class SlotAbove {
  /** The tick of the id that `find` was called with. */
  idTick = 0
  /** The slot that `find` has found. */
  tick = 0
  sequence = 0
  readonly #timestamp: { readonly name: string; readonly bits: number; readonly shift: number }
  readonly #sequence: { readonly name: string; readonly bits: number; readonly shift: number }
  readonly #maxTick: number
  readonly #lastSequence: number
  /** The bits below the timestamp, and those of the sequence. */
  readonly #restHigh: number
  readonly #restLow: number
  readonly #sequenceHigh: number
  readonly #sequenceLow: number
  readonly #nodeHigh: number
  readonly #nodeLow: number
  /** The lowest bit of the sequence. */
  readonly #stepHigh: number
  readonly #stepLow: number

  constructor({ timestampShift, sequenceShift, sequenceBits, nodeBits, maxTick }: Places) {
    this.#timestamp = { name: 'timestamp', bits: 64 - timestampShift, shift: timestampShift }
    this.#sequence = { name: 'sequence', bits: sequenceBits, shift: sequenceShift }
    this.#maxTick = maxTick
    this.#lastSequence = 2 ** sequenceBits - 1
    const step = 1n << BigInt(sequenceShift)
    ;[this.#restHigh, this.#restLow] = halvesOf((1n << BigInt(timestampShift)) - 1n)
    ;[this.#sequenceHigh, this.#sequenceLow] = halvesOf((step << BigInt(sequenceBits)) - step)
    ;[this.#nodeHigh, this.#nodeLow] = halvesOf(nodeBits)
    ;[this.#stepHigh, this.#stepLow] = halvesOf(step)
  }

  /** @returns False if there is no such slot. */
  find(upper: number, lower: number): boolean {
    const tick = partOf(upper, lower, this.#timestamp)
    if (tick > this.#maxTick) return false
    this.idTick = tick
    this.tick = tick
    this.sequence = 0
    const restHigh = (upper & this.#restHigh) >>> 0
    const restLow = (lower & this.#restLow) >>> 0
    if (isAbove(this.#nodeHigh, this.#nodeLow, restHigh, restLow)) return true
    // The fields share no bit, so adding is or.
    const sameHigh = this.#nodeHigh + ((upper & this.#sequenceHigh) >>> 0)
    const sameLow = this.#nodeLow + ((lower & this.#sequenceLow) >>> 0)
    this.sequence = partOf(upper, lower, this.#sequence)
    if (isAbove(sameHigh, sameLow, restHigh, restLow)) return true
    if (this.sequence < this.#lastSequence) {
      this.sequence++
      const nextLow = sameLow + this.#stepLow
      const carry = nextLow >= two32 ? 1 : 0
      if (isAbove(sameHigh + this.#stepHigh + carry, nextLow - carry * two32, restHigh, restLow)) return true
    }
    this.tick++
    this.sequence = 0
    return this.tick <= this.#maxTick
  }
}

/** Whether the first number is larger than the second; each in two halves. */
function isAbove(oneHigh: number, oneLow: number, otherHigh: number, otherLow: number): boolean {
  return oneHigh > otherHigh || (oneHigh === otherHigh && oneLow > otherLow)
}

function halvesOf(value: bigint): Halves {
  const both = new Uint32Array(BigUint64Array.of(value).buffer)
  return [both[high] as number, both[low] as number]
}
