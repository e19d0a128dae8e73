import { Ledger } from '../measure/ledger.js'
import { spread } from '../measure/statistics.js'

/** @import { Workload } from '../contract.js' */

const idsPerMs = 4096

/**
 * As many ids as there are, for two seconds: default options, so `next()` waits for each new millisecond. What is lost is
 * the time between the clock's new millisecond and the first id in it, and ids that a lease left unused; and whole
 * milliseconds, where other programs want the processor. So the ratio is to the milliseconds that a loop sees which does
 * nothing but read the clock, in turns with the ids: near 1, whatever the machine is busy with.
 *
 * @type {Workload}
 */
export default {
  name: 'sustained',
  title: `twitter, sustained`,
  unit: '% of 4 096/ms',
  yardstick: 'milliseconds seen',
  bars: {
    'graupel-native': [{ of: 'figure', least: 99.9 }],
    'graupel-js': [{ of: 'figure', least: 99.9 }],
  },
  async run(subject, isQuick) {
    const source = (await subject.load())({ layout: 'twitter', node: 5 })
    const first = source?.next?.()
    if (source?.next === undefined || subject.isYardstick || typeof first !== 'bigint') return undefined
    const generator = /** @type {{ next(): bigint }} */ (source)
    const roundMs = isQuick ? 500 : 2000
    // What the layout can hold in that time, and the rest of the last chunk.
    const ids = new BigUint64Array((roundMs + 2) * idsPerMs)
    const chunk = 256
    const ledger = new Ledger()
    const percents = []
    const seen = []
    const ratios = []
    for (let round = 0; round < 5; round++) {
      const before = percentSeen(roundMs / 4)
      let made = 0
      const startMs = performance.now()
      let elapsedMs = 0
      while (elapsedMs < roundMs && made + chunk <= ids.length) {
        for (const end = made + chunk; made < end; made++) ids[made] = generator.next()
        elapsedMs = performance.now() - startMs
      }
      const percent = (100 * made) / (elapsedMs * idsPerMs)
      const yardstick = (before + percentSeen(roundMs / 4)) / 2
      percents.push(percent)
      seen.push(yardstick)
      ratios.push(percent / yardstick)
      ledger.add(ids.subarray(0, made))
    }
    source.close?.()
    return { figure: spread(percents), yardstick: spread(seen), ratio: spread(ratios), check: ledger.report() }
  },
}

/** @param {number} ms */
function percentSeen(ms) {
  const startMs = performance.now()
  let last = Date.now()
  let ticks = 0
  while (performance.now() - startMs < ms) {
    const now = Date.now()
    if (now !== last) ticks++
    last = now
  }
  return (100 * ticks) / (performance.now() - startMs)
}
