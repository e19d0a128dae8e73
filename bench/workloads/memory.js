import { makesIds } from '../measure/keep.js'
import { memoryFlags } from '../measure/memory.js'
import { inFreshProcess } from '../measure/processes.js'
import { spread } from '../measure/statistics.js'

/** @import { Workload } from '../contract.js' */
/** @import { MemoryGrowth } from '../probes/memory.js' */

const probe = new URL('../probes/memory.js', import.meta.url)
const bytesPerKiB = 1024

/**
 * What a thousand generators add to a process that has the module and a thousand others. The resident set counts, because
 * it has what C++ allocates by itself, too; it moves in the steps of the allocators, so this is the mean over eight
 * thousand, and the median of several processes.
 *
 * @param {object} workload
 * @param {string} workload.name
 * @param {string} workload.title
 * @param {boolean} workload.isOneNode
 * @param {Workload['bars']} workload.bars
 * @returns {Workload}
 */
export function memory({ name, title, isOneNode, bars }) {
  return {
    name,
    title,
    unit: 'KiB',
    bars,
    async run(subject, isQuick) {
      if (!makesIds(subject)) return undefined
      if ((await subject.load())({ layout: 'twitter', node: 0, isMany: true }) === undefined) return undefined
      /** @type {MemoryGrowth[]} */
      const growths = []
      const parameters = [subject.name, isOneNode ? 'one node' : 'as many nodes']
      for (let round = 0; round < (isQuick ? 2 : subject.group === 'rival' ? 3 : 7); round++) {
        growths.push(/** @type {MemoryGrowth} */ (await inFreshProcess(probe, parameters, memoryFlags)))
      }
      const heapKiB = spread(growths.map(({ heap }) => heap / bytesPerKiB)).median
      return {
        figure: spread(growths.map(({ resident }) => resident / bytesPerKiB)),
        note: `${heapKiB.toFixed(0)} KiB of it in the heap`,
      }
    },
  }
}
