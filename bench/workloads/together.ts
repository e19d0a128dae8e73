import type { Subject, Wanted, Workload } from '../contract.ts'
import { startCrew } from '../measure/crew.ts'
import { makesIds } from '../measure/loops.ts'
import { calmRounds, effortFor, spread } from '../measure/rounds.ts'

const section = 'Threads and processes'

/**
 * Measures two worker threads on one node against one thread alone, in turns. The ratio is to the gain of the
 * same threads if they only read the clock, which is small on a busy machine or on one core. A round does not
 * count if this gain is less than 1.8, unless all rounds are so. Threads that block each other spend more
 * processor time on an id.
 */
function threads(name: string, title: string, wanted: Wanted, takes: (subject: Subject) => boolean): Workload {
  return {
    name,
    title,
    section,
    unit: '× one thread',
    yardstick: 'two reading the clock',
    isHigherBetter: true,
    async run(subject, options) {
      if (!takes(subject)) return undefined
      const crew = await startCrew('threads', { subject, wanted, size: 2 }, options)
      const { count } = crew
      const { over, disturbed } = await calmRounds(
        { look: { wanted: 3, max: 3 }, context: { wanted: 9, max: 12 }, claim: { wanted: 15, max: 45 } }[
          effortFor(subject, options)
        ],
        async (number) => {
          const measure = async (task: 'make' | 'read clock') => {
            // Each thread is alone in turn, because processors need not be equal.
            const one = await crew.run(task, count, crew.members.slice(number % 2).slice(0, 1))
            const two = await crew.run(task, count)
            return {
              gain: (2 * one.ms) / two.ms,
              one: { rate: count / one.ms / 1000, cpuNs: one.cpuNs / count },
              two: { rate: (2 * count) / two.ms / 1000, cpuNs: two.cpuNs / (2 * count) },
            }
          }
          const control = (await measure('read clock')).gain
          const made = await measure('make')
          await crew.check()
          return { ...made, control }
        },
        (rounds) => rounds.filter(({ control }) => control >= 1.8),
      )
      const rate = (which: 'one' | 'two') => `${which} ${over((round) => round[which].rate).median.toFixed(1)} M/s`
      const cost = (which: 'one' | 'two') => over((round) => round[which].cpuNs).median.toFixed(1)
      return {
        figure: over(({ gain }) => gain),
        yardstick: over(({ control }) => control),
        ratio: over(({ gain, control }) => gain / control),
        check: await crew.end(),
        ...disturbed,
        note: `${rate('one')}, ${rate('two')}; of processor time ${cost('one')} and ${cost('two')} ns/id`,
      }
    },
  }
}

const maxThreads = 4

/** Runs up to four threads even on fewer processors: the threads share them, and the rate must not fall. */
const threadsLine: Workload = {
  name: 'threads-line',
  title: `1 to ${maxThreads} threads, 20-bit sequence`,
  section,
  unit: 'M/s at best',
  isHigherBetter: true,
  async run(subject, options) {
    if (subject.group !== 'graupel') return undefined
    const wanted: Wanted = { layout: 'roomy', node: 2 }
    const crew = await startCrew('threads', { subject, wanted, size: maxThreads }, options)
    const rates = crew.members.map((): number[] => [])
    for (let round = 0; round < (options.isQuick ? 2 : 7); round++) {
      // The last run has all threads, and their ids are checked.
      for (const [i, series] of rates.entries()) {
        const { ms } = await crew.run('make', crew.count, crew.members.slice(0, i + 1))
        series.push(((i + 1) * crew.count) / ms)
      }
      await crew.check()
    }
    const spreads = rates.map(spread)
    const line = spreads.map(({ median }, i) => ({ threads: i + 1, idsPerMs: median }))
    const best = spreads.indexOf([...spreads].sort((a, b) => b.median - a.median)[0] ?? spread([0]))
    return {
      figure: spread((rates[best] ?? []).map((idsPerMs) => idsPerMs / 1000)),
      check: await crew.end(),
      line,
      note: line.map(({ idsPerMs }) => (idsPerMs / 1000).toFixed(1)).join(', '),
    }
  },
}

/** Measures two processes with the same node, as with `node:cluster`, pm2, or two services on one machine. */
const processes: Workload = {
  name: 'processes',
  title: 'two processes, one node',
  section,
  unit: '× one process',
  isHigherBetter: true,
  async run(subject, options) {
    // The js engine refuses the second process.
    if (!makesIds(subject) || subject.name === 'graupel-js') return undefined
    const crew = await startCrew('processes', { subject, wanted: { layout: 'wide', node: 12 }, size: 2 }, options)
    const gains: number[] = []
    const rates: number[] = []
    for (let round = 0; round < (options.isQuick ? 2 : 7); round++) {
      const alone = await crew.run('make', crew.count, crew.members.slice(round % 2).slice(0, 1))
      const both = await crew.run('make', crew.count)
      gains.push((2 * alone.ms) / both.ms)
      rates.push((2 * crew.count) / both.ms / 1000)
      await crew.check()
    }
    return {
      figure: spread(gains),
      check: await crew.end(),
      note: `two make ${spread(rates).median.toFixed(2)} M/s`,
    }
  },
}

export const together = [
  // The layout `wide` ends at 65.5 million ids a second. No machine reaches the end of a sequence of 20 bits.
  threads('threads-wide', 'two threads, wide', { layout: 'wide', node: 6 }, (one) => makesIds(one) && !one.isAsync),
  threads(
    'threads-roomy',
    'two threads, 20-bit sequence',
    { layout: 'roomy', node: 3 },
    ({ group }) => group === 'graupel',
  ),
  threadsLine,
  processes,
]

export const segmentThreads: Workload = {
  ...threads(
    'segment-threads',
    'two threads with one handle',
    { layout: 'wide', node: 0 },
    ({ name }) => name === 'graupel-segments',
  ),
  section: 'Segments',
  of: 'graupel',
}
