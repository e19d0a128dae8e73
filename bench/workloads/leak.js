import { memoryFlags } from '../measure/memory.js'
import { inFreshProcess } from '../measure/processes.js'
import { spread } from '../measure/statistics.js'

/** @import { Workload } from '../contract.js' */
/** @import { LeakSample } from '../probes/leak.js' */

const probe = new URL('../probes/leak.js', import.meta.url)

/**
 * Generators made, used once and dropped, on one node: whether memory still grows after the first 100 000, when the heap
 * and the allocators have found their size. In bytes per generator, because the least that can leak is a pointer of 8;
 * half of that is the bar.
 *
 * Counted is the heap with external memory, or the resident set, which has what C++ allocates by itself, whichever grows
 * more: from the least of the second 100 000 to the least of the fourth, for both move by some hundred KiB as they like,
 * but a leak lifts their least.
 *
 * @param {object} workload
 * @param {string} workload.name
 * @param {string} workload.title
 * @param {'close' | 'collect'} workload.ending
 * @returns {Workload}
 */
export function leak({ name, title, ending }) {
  return {
    name,
    title,
    unit: 'bytes each',
    bars: {
      'graupel-native': [{ of: 'figure', most: 4 }],
      'graupel-js': [{ of: 'figure', most: 4 }],
    },
    async run(subject, isQuick) {
      if (subject.group !== 'graupel') return undefined
      const growths = []
      let peakKiB = 0
      for (let round = 0; round < (isQuick ? 1 : 3); round++) {
        /** @type {LeakSample[]} */
        const samples = await inFreshProcess(probe, [subject.name, ending], memoryFlags)
        growths.push(
          Math.max(
            growth(samples, (sample) => sample.heap + sample.external),
            growth(samples, (sample) => sample.resident),
          ),
        )
        const resident = samples.map((s) => s.resident)
        peakKiB = Math.max(peakKiB, (Math.max(...resident) - Math.min(...resident)) / 1024)
      }
      return { figure: spread(growths), note: `the resident set moved by ${peakKiB.toFixed(0)} KiB in all` }
    },
  }
}

/**
 * @param {readonly LeakSample[]} samples
 * @param {(sample: LeakSample) => number} of
 */
function growth(samples, of) {
  const quarter = samples.length / 4
  const least = (/** @type {number} */ from) => Math.min(...samples.slice(from, from + quarter).map(of))
  const made = /** @type {LeakSample} */ (samples[2 * quarter]).made - /** @type {LeakSample} */ (samples[0]).made
  return (least(3 * quarter) - least(quarter)) / made
}
