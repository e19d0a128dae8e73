import { compare, effortFor } from '../measure/compare.js'
import { Ledger } from '../measure/ledger.js'

/** @import { Wanted, Workload } from '../contract.js' */

/**
 * An array of ids at once. The yardstick writes one number everywhere.
 *
 * @param {object} workload
 * @param {string} workload.name
 * @param {number} workload.size
 * @param {Wanted} workload.wanted
 * @param {Workload['bars']} workload.bars
 * @returns {Workload}
 */
export function fill({ name, size, wanted, bars }) {
  return {
    name,
    title: `fill(), ${size.toLocaleString('en').replace(',', ' ')} ids`,
    unit: 'ns/id',
    yardstick: 'BigUint64Array#fill',
    bars,
    onEveryNode: true,
    async run(subject, isQuick) {
      const source = (await subject.load())(wanted)
      if (source?.fill === undefined) return undefined
      const generator = /** @type {Required<typeof source>} */ (source)
      // As many as of the large array in a batch, so that the clock of the bench is read as seldom.
      const arrays = Array.from({ length: 65_536 / size }, () => new BigUint64Array(size))
      const run = () => {
        for (const array of arrays) generator.fill(array)
      }
      const yardstick = () => {
        for (const array of arrays) array.fill(0x1a2b_3c4d_5e6f_7081n)
      }
      const ledger = new Ledger()
      const check = () => {
        for (const array of arrays) ledger.add(array)
      }
      const batch = { size: 65_536, run, ...(subject.group === 'yardstick' ? {} : { check }) }
      const outcome = await compare(batch, { size: 65_536, run: yardstick }, effortFor(subject, isQuick))
      return subject.group === 'yardstick' ? outcome : { ...outcome, check: ledger.report() }
    },
  }
}
