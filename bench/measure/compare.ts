import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { Bench } from 'tinybench'
import type { Outcome } from '../contract.ts'
import { calmRounds, type Effort } from './rounds.ts'

export interface Batch {
  /** Makes and keeps `size` ids. */
  run(): void | Promise<void>
  size: number
  /** Checks the kept ids; not timed. */
  check?(): void | Promise<void>
}

/**
 * The rounds that are wanted, the most rounds if some are disturbed, and the time of each of the three turns
 * of a round.
 */
const efforts = {
  claim: { wanted: 30, max: 60, turnMs: 40 },
  context: { wanted: 9, max: 18, turnMs: 50 },
  look: { wanted: 5, max: 5, turnMs: 30 },
} as const

/** The number of bursts in a turn. The quartiles are over at least five turns. */
const bursts = 25

/**
 * Times a batch against a yardstick, in short turns of one process. The ratio of a round is to the mean of
 * the yardstick before and after.
 *
 * A neighbour on the other thread of a core adds some 22 ns to an id and to a reading of the clock, so it
 * changes their ratio. A round does not count if the yardstick is more than a tenth slower than in its best
 * round. The time of the batch never decides, so this choice can only make a ratio higher.
 *
 * With `pauseMs`, each batch is a burst after a sleep. Then all rounds count, and the note has the slowest
 * bursts.
 */
export async function compare(batch: Batch, yardstick: Batch, effort: Effort, pauseMs?: number): Promise<Outcome> {
  const { wanted, max, turnMs } = efforts[effort]
  const isBurst = pauseMs !== undefined
  const pause = isBurst ? { beforeEach: () => sleep(pauseMs) } : {}
  // tinybench does not count the pauses: a warm-up of 300 ms would be one of 6 000 bursts.
  const length = isBurst
    ? { time: 0, iterations: bursts, warmupTime: 0, warmupIterations: 50 }
    : { time: turnMs, iterations: 5, warmupTime: 300 }
  const { counted, over, disturbed } = await calmRounds(
    isBurst ? { wanted: effort === 'look' ? 5 : 16, max: 16 } : { wanted, max },
    async (number) => {
      // Lets the timers of a lease run.
      await nextTurn()
      const bench = new Bench({ ...length, warmup: number === 0, throws: true })
      const add = (name: string, { run, check }: Batch) =>
        bench.add(name, run, { ...pause, ...(check && { afterEach: check }) })
      add('before', yardstick)
      add('batch', batch)
      add('after', yardstick)
      await bench.run()
      const figure = nsPerId(bench, 'batch', batch)
      const [before, after] = [nsPerId(bench, 'before', yardstick), nsPerId(bench, 'after', yardstick)]
      return { figure, yardstick: before.p50 / 2 + after.p50 / 2, slower: Math.max(before.p50, after.p50) }
    },
    (rounds) => {
      const best = Math.min(...rounds.map(({ slower }) => slower))
      return isBurst ? rounds : rounds.filter(({ slower }) => slower <= 1.1 * best)
    },
  )
  const slow = over(({ figure }) => figure.p99).median.toFixed(0)
  const slowest = Math.max(...counted.map(({ figure }) => figure.max)).toFixed(0)
  return {
    figure: over(({ figure }) => figure.p50),
    yardstick: over((round) => round.yardstick),
    ratio: over((round) => round.figure.p50 / round.yardstick),
    ...disturbed,
    ...(isBurst && { note: `1 burst in ${bursts} takes ${slow} ns/id, the slowest ${slowest}` }),
  }
}

function nsPerId(bench: Bench, name: string, { size }: Batch) {
  const result = bench.getTask(name)?.result
  if (result?.state !== 'completed') throw new Error(`the timing of ${name} ended as '${result?.state}'`)
  const perId = (ms: number) => (ms * 1e6) / size
  // The median batch, so that an interruption by the scheduler does not count for more than one batch.
  return { p50: perId(result.latency.p50), p99: perId(result.latency.p99), max: perId(result.latency.max) }
}

/** Reads the clock: the yardstick of most ratios. Keeps its results as the loops of ids do. */
export function clockReadings(size: number): Batch {
  const readings = new Float64Array(size)
  return {
    size,
    run() {
      for (let i = 0; i < readings.length; i++) readings[i] = Date.now()
    },
  }
}
