import { inFreshProcess } from '../measure/processes.js'
import { spread } from '../measure/statistics.js'

/** @import { Subject, Workload } from '../contract.js' */

const importProbe = new URL('../probes/import.js', import.meta.url)
const empty = new URL('../probes/empty.js', import.meta.url).href

/**
 * Milliseconds in a fresh process beyond the import of an empty module; both in turns, because the first process after
 * another program's work finds colder caches than the next.
 *
 * @param {object} workload
 * @param {string} workload.name
 * @param {string} workload.title
 * @param {Workload['bars']} workload.bars
 * @param {(subject: Subject) => Promise<number> | undefined} workload.probe
 * @returns {Workload}
 */
export function startup({ name, title, bars, probe }) {
  return {
    name,
    title,
    unit: 'ms',
    bars,
    async run(subject, isQuick) {
      const first = probe(subject)
      if (first === undefined) return undefined
      await first
      const times = []
      const idle = []
      for (let round = 0; round < (isQuick ? 5 : 21); round++) {
        idle.push(/** @type {number} */ (await inFreshProcess(importProbe, [empty])))
        times.push(/** @type {number} */ (await probe(subject)))
      }
      const emptyMs = spread(idle).median
      return {
        figure: spread(times.map((ms) => ms - emptyMs)),
        note: `the empty module takes ${emptyMs.toFixed(1)} ms`,
      }
    },
  }
}

/**
 * @param {string} specifier
 * @returns {Promise<number>}
 */
export function importMs(specifier) {
  return inFreshProcess(importProbe, [specifier])
}
