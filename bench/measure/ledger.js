/** @import { Check } from '../contract.js' */

/** Ids that are kept for counting repeats, should the order not have ruled them out: 64 MiB. */
const mostKept = 2 ** 23

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1
const low = isLittleEndian ? 0 : 1
const high = 1 - low

/**
 * Checks timed ids, between the timed batches. As long as each id is above the one before there cannot be a repeat, and
 * that is all that has to be looked at; where the order is broken, repeats are counted among the first {@link mostKept}.
 */
export class Ledger {
  #kept = new BigUint64Array(mostKept)
  #ids = 0
  #outOfOrder = 0
  #lastHigh = -1
  #lastLow = -1

  /** @param {BigUint64Array<ArrayBufferLike> | readonly (bigint | number | string)[] | Float64Array} batch */
  add(batch) {
    const ids = batch instanceof BigUint64Array ? batch : BigUint64Array.from(/** @type {bigint[]} */ (batch), BigInt)
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
      lastHigh = idHigh
      lastLow = idLow
    }
    this.#lastHigh = lastHigh
    this.#lastLow = lastLow
  }

  /** @returns {Check} */
  report() {
    if (this.#outOfOrder === 0) return { ids: this.#ids, repeats: 0, outOfOrder: 0 }
    const kept = this.#kept.subarray(0, this.#ids)
    return { ids: kept.length, repeats: countRepeats(kept), outOfOrder: this.#outOfOrder }
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
