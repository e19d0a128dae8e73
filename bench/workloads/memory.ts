import type { Workload } from '../contract.ts'
import { inFreshProcess, smallYoung } from '../measure/fresh.ts'
import { makesIds } from '../measure/loops.ts'
import { spread } from '../measure/rounds.ts'
import type { LeakSample, MemoryGrowth, MemoryTask } from './memory-probe.ts'

const section = 'Memory'

function probe<T>(task: MemoryTask): Promise<T> {
  return inFreshProcess('workloads/memory-probe.ts', task, { nodeFlags: ['--expose-gc', ...smallYoung] })
}

/**
 * Measures the memory that a thousand generators add to a process that already has a thousand. The resident
 * set counts, because it includes allocations of C++. It moves in steps, so this is the mean over eight
 * thousand, and the median of processes.
 */
function kept(name: string, title: string, measure: 'one node' | 'many nodes'): Workload {
  return {
    name,
    title,
    section,
    unit: 'KiB',
    async run(subject, { isQuick }) {
      if (!makesIds(subject)) return undefined
      if ((await subject.load())({ layout: 'twitter', node: 0, isMany: true }) === undefined) return undefined
      const growths: MemoryGrowth[] = []
      for (let round = 0; round < (isQuick ? 2 : subject.group === 'rival' ? 3 : 7); round++) {
        growths.push(await probe({ measure, name: subject.name, build: subject.build }))
      }
      const heapKiB = spread(growths.map(({ heap }) => heap / 1024)).median
      return {
        figure: spread(growths.map(({ resident }) => resident / 1024)),
        note: `${heapKiB.toFixed(0)} KiB of it in the heap`,
      }
    },
  }
}

/**
 * Measures whether memory grows with generators that are made, used once and dropped, after the first
 * 100 000. The growth is from the lowest value during the second 100 000 to the lowest value during the
 * fourth, because a leak raises the lowest value. The heap or the resident set counts, whichever grows
 * more.
 */
function leak(name: string, title: string, measure: 'closed' | 'dropped'): Workload {
  return {
    name,
    title,
    section,
    unit: 'bytes each',
    async run(subject, { isQuick }) {
      if (subject.group !== 'graupel') return undefined
      const growths: number[] = []
      let peakKiB = 0
      for (let round = 0; round < (isQuick ? 1 : 3); round++) {
        const samples = await probe<LeakSample[]>({ measure, name: subject.name, build: subject.build })
        const resident = samples.map((sample) => sample.resident)
        growths.push(Math.max(growth(samples.map(({ heap }) => heap)), growth(resident)))
        peakKiB = Math.max(peakKiB, (Math.max(...resident) - Math.min(...resident)) / 1024)
      }
      return { figure: spread(growths), note: `the resident set moved by ${peakKiB.toFixed(0)} KiB in all` }
    },
  }
}

/** Returns the bytes for each of the 200 000 generators between the second quarter and the fourth. */
function growth(bytes: readonly number[]) {
  const quarter = bytes.length / 4
  const least = (from: number) => Math.min(...bytes.slice(from, from + quarter))
  return (least(3 * quarter) - least(quarter)) / 200_000
}

export const memory = [
  kept('memory-one-node', '1 000 generators, one node', 'one node'),
  // The word of each node is kept for the life of the process.
  kept('memory-nodes', '1 000 generators, 1 000 nodes', 'many nodes'),
  leak('leak-closed', '400 000 generators closed', 'closed'),
  leak('leak-dropped', '400 000 generators dropped', 'dropped'),
]
