/** @import { Check, Stamp } from '../contract.js' */

/** Ids that are kept for counting repeats, should the order not have ruled them out: 64 MiB. */
const mostKept = 2 ** 23

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1
const low = isLittleEndian ? 0 : 1
const high = 1 - low

/**
 * Checks timed ids, between the timed batches. As long as each id is above the one before there cannot be a repeat, and
 * that is all that has to be looked at; where the order is broken, repeats are counted among the first {@link mostKept}.
 * With the stamp's layout, ids are counted that bear a later time than the one at which they are added.
 */
export class Ledger {
  #stamp
  #future = 0
  #kept = new BigUint64Array(mostKept)
  #ids = 0
  #outOfOrder = 0
  #lastHigh = -1
  #lastLow = -1

  /** @param {Stamp} [stamp] - None, if the ids were allowed to run ahead of the clock. */
  constructor(stamp) {
    this.#stamp = stamp
  }

  /**
   * @param {BigUint64Array<ArrayBufferLike>} ids
   * @param {number} [madeMs] - When the last of them had been made.
   */
  add(ids, madeMs = Date.now()) {
    const [tooHigh, tooLow] = this.#firstAfter(madeMs)
    this.#kept.set(ids.subarray(0, Math.max(0, mostKept - this.#ids)), Math.min(this.#ids, mostKept))
    this.#ids += ids.length
    // As halves, because comparing bigints takes longer than most subjects take to make them.
    const halves = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2)
    let lastHigh = this.#lastHigh
    let lastLow = this.#lastLow
    for (let at = 0; at < halves.length; at += 2) {
      const idHigh = /** @type {number} */ (halves[at + high])
      const idLow = /** @type {number} */ (halves[at + low])
      if (idHigh < lastHigh || (idHigh === lastHigh && idLow <= lastLow)) this.#outOfOrder++
      if (idHigh > tooHigh || (idHigh === tooHigh && idLow >= tooLow)) this.#future++
      lastHigh = idHigh
      lastLow = idLow
    }
    this.#lastHigh = lastHigh
    this.#lastLow = lastLow
  }

  /** @returns {Check} */
  report() {
    const found = { ids: this.#ids, outOfOrder: this.#outOfOrder, future: this.#future }
    if (this.#outOfOrder === 0) return { ...found, repeats: 0 }
    const kept = this.#kept.subarray(0, this.#ids)
    return { ...found, ids: kept.length, repeats: countRepeats(kept) }
  }

  /**
   * The halves of the least id that bears a later time.
   *
   * @param {number} ms
   * @returns {[high: number, low: number]}
   */
  #firstAfter(ms) {
    if (this.#stamp === undefined) return [2 ** 32, 0]
    const { epochMs, shift } = this.#stamp
    const id = BigInt(ms + 1 - epochMs) << BigInt(shift)
    return [Number(id >> 32n), Number(id & 0xffff_ffffn)]
  }
}

/**
 * @param {BigUint64Array<ArrayBufferLike>} ids - Will be sorted.
 * @returns {number} How many of them had been there before.
 */
export function countRepeats(ids) {
  ids.sort()
  const halves = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2)
  let repeats = 0
  for (let at = 2; at < halves.length; at += 2) {
    if (halves[at] === halves[at - 2] && halves[at + 1] === halves[at - 1]) repeats++
  }
  return repeats
}
