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
