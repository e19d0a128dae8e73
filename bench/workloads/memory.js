import { makesIds } from '../measure/keep.js'
import { memoryFlags } from '../measure/memory.js'
import { inFreshProcess } from '../measure/processes.js'
import { spread } from '../measure/statistics.js'

/** @import { Workload } from '../contract.js' */
/** @import { MemoryGrowth } from '../probes/memory.js' */

const probe = new URL('../probes/memory.js', import.meta.url)
const bytesPerKiB = 1024

/**
 * What a thousand generators on as many nodes add to a process that has the module and a thousand others. The resident
 * set counts, because it has what C++ allocates by itself, too; it moves in the steps of the allocators, so this is the
 * median of several thousands.
 *
 * @type {Workload}
 */
export default {
  name: 'memory',
  title: '1 000 generators',
  unit: 'KiB',
  bars: {
    'graupel-native': [{ of: 'figure', most: 1024 }],
    'graupel-js': [{ of: 'figure', most: 1024 }],
  },
  async run(subject, isQuick) {
    if (!makesIds(subject)) return undefined
    if ((await subject.load())({ layout: 'twitter', node: 0, isMany: true }) === undefined) return undefined
    /** @type {MemoryGrowth[]} */
    const growths = []
    for (let round = 0; round < (isQuick ? 2 : subject.group === 'rival' ? 3 : 7); round++) {
      growths.push(.../** @type {MemoryGrowth[]} */ (await inFreshProcess(probe, [subject.name], memoryFlags)))
    }
    const heapKiB = spread(growths.map(({ heap }) => heap / bytesPerKiB)).median
    return {
      figure: spread(growths.map(({ resident }) => resident / bytesPerKiB)),
      note: `${heapKiB.toFixed(0)} KiB of it in the heap`,
    }
  },
}
