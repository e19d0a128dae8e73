import { clockReadings, compare } from '../measure/compare.js'
import { Ledger } from '../measure/ledger.js'

/** @import { Source, Wanted, Workload } from '../contract.js' */

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
 * @param {number} workload.size - Ids in a batch.
 * @param {(source: Source, size: number) => { ids: Parameters<Ledger['add']>[0], run: () => void } | undefined} workload.batch
 * @param {Workload['bars']} workload.bars
 * @returns {Workload}
 */
export function single({ name, title, wanted, size, batch, bars }) {
  return {
    name,
    title,
    unit: 'ns/id',
    yardstick: 'Date.now()',
    bars,
    async run(subject, isQuick) {
      const source = (await subject.load())(wanted)
      const made = source && batch(source, size)
      if (made === undefined) return undefined
      const { ids, run } = made
      if (subject.isYardstick) return compare({ size, run }, clockReadings(size), isQuick)
      const ledger = new Ledger()
      const outcome = await compare({ size, run, check: () => ledger.add(ids) }, clockReadings(size), isQuick)
      source?.close?.()
      return { ...outcome, check: ledger.report() }
    },
  }
}
