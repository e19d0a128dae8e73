import { makesIds } from '../measure/keep.js'
import { spread } from '../measure/statistics.js'
import { Crew } from './threads.js'

/** @import { Workload } from '../contract.js' */

const most = 4

/**
 * Ids a second with one to four threads on one node, also where there are fewer processors: they share what there is,
 * and the line must not fall. With 20 bits of sequence, so that the layout is no limit.
 *
 * @type {Workload}
 */
export default {
  name: 'threads-line',
  title: `1 to ${most} threads, 20-bit sequence`,
  unit: 'M/s at best',
  bars: {},
  async run(subject, isQuick) {
    if (!makesIds(subject) || subject.group === 'rival') return undefined
    const crew = await Crew.start(subject, { layout: 'roomy', node: 2 }, most)
    const count = await crew.calibrate(isQuick)
    const check = { ids: 0, repeats: 0, outOfOrder: 0, future: 0 }
    /** @type {number[][]} */
    const rates = Array.from({ length: most }, () => [])
    for (let round = 0; round < (isQuick ? 2 : 7); round++) {
      // The last run is the one with all threads, whose ids are then looked at.
      for (const [i, series] of rates.entries()) {
        const { ms } = await crew.run('make', count, i + 1)
        series.push(((i + 1) * count) / ms)
      }
      await crew.check(check, count)
    }
    await crew.end()
    const line = rates.map((series, i) => ({ threads: i + 1, idsPerMs: spread(series).median }))
    const best = /** @type {number[]} */ (rates.toSorted((a, b) => spread(b).median - spread(a).median)[0])
    return {
      figure: spread(best.map((idsPerMs) => idsPerMs / 1000)),
      check,
      line,
      note: line.map(({ idsPerMs }) => (idsPerMs / 1000).toFixed(1)).join(', '),
    }
  },
}
