import { Bench } from 'tinybench'
import { spread } from './statistics.js'

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

/**
 * Times a batch against a yardstick, both in short turns of the same process: a machine that is slow for a second, or a
 * processor that changes its clock, is so for both. Each round's ratio is to the mean of the yardstick before and after.
 *
 * @param {Batch} batch
 * @param {Batch} yardstick
 * @param {'claim' | 'context' | 'look'} effort - For our own claims, for what they are compared with, or quick.
 * @returns {Promise<Outcome>} Nanoseconds per id.
 */
export async function compare(batch, yardstick, effort) {
  const rounds = { claim: 15, context: 9, look: 5 }[effort]
  const roundMs = { claim: 80, context: 50, look: 30 }[effort]
  const figures = []
  const yardsticks = []
  const ratios = []
  for (let round = 0; round < rounds; round++) {
    const bench = new Bench({ time: roundMs, iterations: 5, warmup: round === 0, warmupTime: 300, throws: true })
    bench.add('before', yardstick.run)
    bench.add('batch', batch.run, batch.check === undefined ? {} : { afterEach: batch.check })
    bench.add('after', yardstick.run)
    await bench.run()
    const figure = nsPerId(bench, 'batch', batch.size)
    const before = nsPerId(bench, 'before', yardstick.size)
    const after = nsPerId(bench, 'after', yardstick.size)
    figures.push(figure)
    yardsticks.push((before + after) / 2)
    ratios.push((2 * figure) / (before + after))
  }
  return { figure: spread(figures), yardstick: spread(yardsticks), ratio: spread(ratios) }
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
