import { high, low } from '../../src/core/typed-array.js'
import type { Check, Stamp } from '../contract.ts'

/** The most ids that are kept to count repeats: 64 MiB. */
const maxKept = 2 ** 23

/**
 * Checks ids between the timed batches. While each id is above the id before, there is no repeat. If the
 * order is broken, repeats are counted among the first {@link maxKept} ids. With a stamp, the ledger also
 * counts ids whose time is later than the moment at which they were made; ids that may run ahead of the clock
 * have no stamp.
 */
export class Ledger {
  #stamp: Stamp | undefined
  #future = 0
  #kept = new BigUint64Array(maxKept)
  #ids = 0
  #outOfOrder = 0
  #lastHigh = -1
  #lastLow = -1

  constructor(stamp?: Stamp) {
    this.#stamp = stamp
  }

  /** Adds ids. @param madeMs - The time after the last id was made. */
  add(ids: BigUint64Array, madeMs = Date.now()) {
    const [tooHigh, tooLow] = this.#firstAfter(madeMs)
    this.#kept.set(ids.subarray(0, Math.max(0, maxKept - this.#ids)), Math.min(this.#ids, maxKept))
    this.#ids += ids.length
    // Compares halves, because comparing bigints takes longer than most subjects take to make them.
    const halves = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2)
    for (let at = 0; at < halves.length; at += 2) {
      const idHigh = halves[at + high] as number
      const idLow = halves[at + low] as number
      if (idHigh < this.#lastHigh || (idHigh === this.#lastHigh && idLow <= this.#lastLow)) this.#outOfOrder++
      if (idHigh > tooHigh || (idHigh === tooHigh && idLow >= tooLow)) this.#future++
      this.#lastHigh = idHigh
      this.#lastLow = idLow
    }
  }

  report(): Check {
    const found = { ids: this.#ids, outOfOrder: this.#outOfOrder, future: this.#future }
    if (this.#outOfOrder === 0) return { ...found, repeats: 0 }
    const kept = this.#kept.subarray(0, this.#ids)
    return { ...found, ids: kept.length, repeats: countRepeats(kept) }
  }

  /** Returns the halves of the least id with a later time. */
  #firstAfter(ms: number): [high: number, low: number] {
    if (this.#stamp === undefined) return [2 ** 32, 0]
    const id = BigInt(ms + 1 - this.#stamp.epochMs) << BigInt(this.#stamp.shift)
    return [Number(id >> 32n), Number(id & 0xffff_ffffn)]
  }
}

/** Sorts the ids, and counts repeats. */
export function countRepeats(ids: BigUint64Array) {
  ids.sort()
  const halves = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2)
  let repeats = 0
  for (let at = 2; at < halves.length; at += 2) {
    if (halves[at] === halves[at - 2] && halves[at + 1] === halves[at - 1]) repeats++
  }
  return repeats
}
