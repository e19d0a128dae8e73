import { fork } from 'node:child_process'
import { once } from 'node:events'
import { makesIds } from '../measure/keep.js'
import { countRepeats, Ledger } from '../measure/ledger.js'
import { stampOf } from '../measure/stamps.js'
import { spread } from '../measure/statistics.js'

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Wanted, Workload } from '../contract.js' */
/** @import { ProcessReport } from '../probes/process.js' */

/** @type {Wanted} */
const wanted = { layout: 'wide', node: 12 }
const probe = new URL('../probes/process.js', import.meta.url)
const mostIds = 2 ** 20
const roundMs = 150

/**
 * Two processes with the same node, as `node:cluster`, pm2, or two services on one machine have it, against one of them
 * alone. What rivals are asked here is not their speed.
 *
 * @type {Workload}
 */
export default {
  name: 'processes',
  title: 'two processes, one node',
  unit: '× one process',
  bars: {},
  async run(subject, isQuick) {
    if (!makesIds(subject)) return undefined
    // A second process on its node is refused, so there is nothing to time.
    if (subject.name === 'graupel-js') return undefined
    const children = [0, 1].map(() =>
      fork(probe, [subject.name, JSON.stringify(wanted)], { serialization: 'advanced' }),
    )
    await Promise.all(children.map((child) => once(child, 'message')))
    let count = 256
    while (count < mostIds && (await together(children, count)).ms < roundMs / 4) count = Math.min(mostIds, count * 4)
    const ledgers = children.map(() => new Ledger(stampOf(subject, wanted)))
    const gains = []
    const rates = []
    let repeats = 0
    let ids = 0
    for (let round = 0; round < (isQuick ? 2 : 7); round++) {
      const alone = await together([/** @type {ChildProcess} */ (children[round % 2])], count)
      const both = await together(children, count)
      gains.push((2 * alone.ms) / both.ms)
      rates.push((2 * count) / both.ms / 1000)
      const all = new BigUint64Array(2 * count)
      for (const [i, report] of both.reports.entries()) {
        all.set(report.ids, i * count)
        ledgers[i]?.add(report.ids)
      }
      ids += all.length
      repeats += countRepeats(all)
    }
    for (const child of children) child.disconnect()
    const reports = ledgers.map((ledger) => ledger.report())
    const sum = (/** @type {'outOfOrder' | 'future'} */ what) =>
      reports.reduce((total, report) => total + report[what], 0)
    return {
      figure: spread(gains),
      check: { ids, repeats, outOfOrder: sum('outOfOrder'), future: sum('future') },
      note: `two make ${spread(rates).median.toFixed(2)} M/s`,
    }
  },
}

/**
 * @param {readonly ChildProcess[]} children
 * @param {number} count
 */
async function together(children, count) {
  const startMs = Date.now() + 20
  const replies = children.map((child) => once(child, 'message'))
  for (const child of children) child.send({ count, startMs })
  const reports = (await Promise.all(replies)).map(([report]) => /** @type {ProcessReport} */ (report))
  const starts = reports.map(({ startNs }) => Number(startNs))
  const ends = reports.map(({ endNs }) => Number(endNs))
  return { ms: (Math.max(...ends) - Math.min(...starts)) / 1e6, reports }
}
