import { Bench } from 'tinybench'
import { calmRounds, spread } from './statistics.js'

/** @import { Outcome, Subject } from '../contract.js' */

/**
 * @typedef {object} Batch
 * @property {() => void | Promise<void>} run - Makes `size` ids, and keeps them.
 * @property {number} size
 * @property {() => void} [check] - Looks at them; not timed.
 */

const nsPerMs = 1e6

/**
 * @param {Subject} subject
 * @param {boolean} isQuick
 */
export function effortFor({ group }, isQuick) {
  return isQuick ? 'look' : group === 'graupel' ? 'claim' : 'context'
}

/** Rounds, how many at most where some are disturbed, and how long each of the three turns of a round takes. */
const efforts = /** @type {const} */ ({
  claim: { wanted: 30, most: 60, turnMs: 40 },
  context: { wanted: 9, most: 18, turnMs: 50 },
  look: { wanted: 5, most: 5, turnMs: 30 },
})

/**
 * Times a batch against a yardstick, both in short turns of the same process: a machine that is slow for a second, or a
 * processor that changes its clock, is so for both. Each round's ratio is to the mean of the yardstick before and after.
 *
 * What is slow for both is not slow for both alike, though: a neighbour on the other thread of a core takes some 22 ns
 * from an id and from a reading of the clock, whatever they took before. So a round in which the yardstick was more than
 * a tenth slower than in its best round does not count, and another is made. It is the yardstick that decides, never the
 * batch: to choose rounds where it is fast can make ratios higher, and not lower.
 *
 * @param {Batch} batch
 * @param {Batch} yardstick
 * @param {'claim' | 'context' | 'look'} effort - For our own claims, for what they are compared with, or quick.
 * @returns {Promise<Outcome>} Nanoseconds per id.
 */
export async function compare(batch, yardstick, effort) {
  const { wanted, most, turnMs } = efforts[effort]
  const { counted, disturbed } = await calmRounds(
    { wanted, most },
    async (number) => {
      const bench = new Bench({ time: turnMs, iterations: 5, warmup: number === 0, warmupTime: 300, throws: true })
      bench.add('before', yardstick.run)
      bench.add('batch', batch.run, batch.check === undefined ? {} : { afterEach: batch.check })
      bench.add('after', yardstick.run)
      await bench.run()
      return {
        figure: nsPerId(bench, 'batch', batch.size),
        before: nsPerId(bench, 'before', yardstick.size),
        after: nsPerId(bench, 'after', yardstick.size),
      }
    },
    (rounds) => {
      const slower = (/** @type {typeof rounds[number]} */ { before, after }) => Math.max(before, after)
      const best = Math.min(...rounds.map(slower))
      return rounds.filter((round) => slower(round) <= 1.1 * best)
    },
  )
  return {
    figure: spread(counted.map(({ figure }) => figure)),
    yardstick: spread(counted.map(({ before, after }) => (before + after) / 2)),
    ratio: spread(counted.map(({ figure, before, after }) => (2 * figure) / (before + after))),
    ...(disturbed > 0 && { disturbed }),
  }
}

/**
 * The median batch of a round: one that a scheduler interrupts does not count for more than another.
 *
 * @param {Bench} bench
 * @param {string} task
 * @param {number} size
 */
function nsPerId(bench, task, size) {
  const result = bench.getTask(task)?.result
  if (result?.state !== 'completed') throw new Error(`the timing of ${task} ended as '${result?.state}'`)
  return (result.latency.p50 * nsPerMs) / size
}

/**
 * The yardstick of most ratios. Its results are kept as the ids are, so that neither loop is spared anything.
 *
 * @param {number} size
 * @returns {Batch}
 */
export function clockReadings(size) {
  const readings = new Float64Array(size)
  return {
    size,
    run: () => {
      for (let i = 0; i < readings.length; i++) readings[i] = Date.now()
    },
  }
}
