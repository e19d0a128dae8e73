import { compare } from '../measure/compare.js'
import { Ledger } from '../measure/ledger.js'

/** @import { Workload } from '../contract.js' */

const size = 65_536

/**
 * `wide` has 65 536 ids in a millisecond, one array; filling one takes a fraction of that, so all but the first would wait
 * for the clock. `unbounded` lets them run ahead of it, some minutes by the end.
 *
 * @type {Workload}
 */
export default {
  name: 'fill',
  title: 'fill(), 65 536 ids',
  unit: 'ns/id',
  yardstick: 'BigUint64Array#fill',
  bars: {
    'graupel-native': [
      { of: 'figure', most: 0.6 },
      { of: 'ratio', most: 4 },
    ],
    'graupel-js': [{ of: 'figure', most: 2 }],
  },
  async run(subject, isQuick) {
    const source = (await subject.load())({ layout: 'wide', node: 4, unbounded: true })
    if (source?.fill === undefined) return undefined
    const generator = /** @type {Required<typeof source>} */ (source)
    const ids = new BigUint64Array(size)
    const constant = new BigUint64Array(size)
    const ledger = new Ledger()
    const batch = { size, run: () => void generator.fill(ids), check: () => ledger.add(ids) }
    const outcome = await compare(batch, { size, run: () => void constant.fill(0x1a2b_3c4d_5e6f_7081n) }, isQuick)
    return { ...outcome, check: ledger.report() }
  },
}
