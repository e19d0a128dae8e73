import { clockReadings, compare, effortFor } from '../measure/compare.js'
import { makesIds } from '../measure/keep.js'
import { Ledger } from '../measure/ledger.js'
import { stampOf } from '../measure/stamps.js'

/** @import { Source, Subject, Wanted, Workload } from '../contract.js' */
/** @import { Kept } from '../measure/keep.js' */

/**
 * One id at a time, against one reading of the clock.
 *
 * The timed loop stores each id in an array, and it is these ids that are checked, after each batch and outside of the
 * timing. A batch takes milliseconds, so that the first ids of a tick, which cost more, have the share that they have in
 * steady use, although the check lets some ticks pass by.
 *
 * @param {object} workload
 * @param {string} workload.name
 * @param {string} workload.title
 * @param {Wanted} workload.wanted
 * @param {number} workload.size - Ids in a batch; rivals, which may be a thousand times slower, make fewer.
 * @param {(source: Source, size: number, subject: Subject) => Kept | undefined} workload.keep
 * @param {Workload['bars']} workload.bars
 * @param {boolean} [workload.onEveryNode]
 * @returns {Workload}
 */
export function single({ name, title, wanted, size, keep, bars, onEveryNode = false }) {
  return {
    name,
    title,
    unit: 'ns/id',
    yardstick: 'Date.now()',
    bars,
    onEveryNode,
    async run(subject, isQuick) {
      const source = (await subject.load())(wanted)
      const count = subject.group === 'graupel' || subject.group === 'yardstick' ? size : size / 8
      const made = source && keep(source, count, subject)
      if (made === undefined) return undefined
      const { ids, run } = made
      const yardstick = clockReadings(size)
      if (!makesIds(subject)) return compare({ size: count, run }, yardstick, effortFor(subject, isQuick))
      const ledger = new Ledger(stampOf(subject, wanted))
      const outcome = await compare(
        { size: count, run, check: () => ledger.add(ids()) },
        yardstick,
        effortFor(subject, isQuick),
      )
      source?.close?.()
      return { ...outcome, check: ledger.report() }
    },
  }
}
