/** @import { Spread } from '../contract.js' */

/**
 * @param {readonly number[]} values - At least one.
 * @returns {Spread}
 */
export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return { low: quantile(sorted, 0.25), median: quantile(sorted, 0.5), high: quantile(sorted, 0.75) }
}

/**
 * Linear between the two nearest, as in most statistics packages (Hyndman and Fan's seventh).
 *
 * @param {readonly number[]} sorted
 * @param {number} q
 */
function quantile(sorted, q) {
  const at = q * (sorted.length - 1)
  const below = /** @type {number} */ (sorted[Math.floor(at)])
  const above = /** @type {number} */ (sorted[Math.ceil(at)])
  return below + (above - below) * (at - Math.floor(at))
}

/**
 * Measures until so many rounds count, or there have been `most` of them. If fewer than five count, all do: that is too few
 * for quartiles.
 *
 * @template Round
 * @param {{ wanted: number, most: number }} numbers
 * @param {(number: number) => Promise<Round>} measure
 * @param {(rounds: readonly Round[]) => Round[]} calm - Which of them count, given all.
 */
export async function calmRounds({ wanted, most }, measure, calm) {
  /** @type {Round[]} */
  const rounds = []
  /** @type {Round[]} */
  let counted = []
  while (counted.length < wanted && rounds.length < most) {
    rounds.push(await measure(rounds.length))
    counted = calm(rounds)
  }
  if (counted.length < 5) counted = rounds
  return { counted, disturbed: rounds.length - counted.length }
}
