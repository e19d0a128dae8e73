import { setTimeout as sleep } from 'node:timers/promises'
import { clockReadings } from '../measure/compare.js'
import { keepNext, makesIds } from '../measure/keep.js'
import { Ledger } from '../measure/ledger.js'
import { stampOf } from '../measure/stamps.js'
import { spread } from '../measure/statistics.js'

/** @import { Wanted, Workload } from '../contract.js' */

/** Below what any sequence has for a millisecond, so that nobody has to wait, or to repeat. */
const size = 1000
/** @type {Wanted} */
const wanted = { layout: 'twitter', node: 8 }

/**
 * A thousand ids at once, after the process has slept: what a request that inserts rows pays, with caches that others
 * have used meanwhile. It is also the comparison in which all have the same task, 4 096 ids a millisecond, and none is
 * held up by it. The yardstick is a thousand readings of the clock after a sleep of their own.
 *
 * @type {Workload}
 */
export default {
  name: 'burst',
  title: '1 000 ids after a sleep',
  unit: 'ns/id',
  yardstick: 'Date.now()',
  bars: {},
  async run(subject, isQuick) {
    const source = (await subject.load())(wanted)
    const made = source && keepNext(subject, source, size)
    if (made === undefined) return undefined
    const yardstick = clockReadings(size)
    const ledger = new Ledger(stampOf(subject, wanted))
    /** @param {() => void | Promise<void>} run */
    const timeOne = async (run) => {
      await sleep(2)
      const startMs = performance.now()
      const pending = run()
      if (pending !== undefined) await pending
      return ((performance.now() - startMs) * 1e6) / size
    }
    const figures = []
    /** @type {number[]} */
    const yardsticks = []
    const warmUp = 100
    const bursts = isQuick ? 100 : 400
    for (let i = 0; i < warmUp + bursts; i++) {
      const readings = await timeOne(yardstick.run)
      const ids = await timeOne(made.run)
      if (i < warmUp) continue
      yardsticks.push(readings)
      figures.push(ids)
      if (makesIds(subject)) ledger.add(made.ids())
    }
    const outcome = {
      figure: spread(figures),
      yardstick: spread(yardsticks),
      ratio: spread(figures.map((figure, i) => figure / /** @type {number} */ (yardsticks[i]))),
    }
    return makesIds(subject) ? { ...outcome, check: ledger.report() } : outcome
  },
}
