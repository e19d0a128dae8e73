import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { effortFor } from '../measure/compare.js'
import { makesIds } from '../measure/keep.js'
import { countRepeats } from '../measure/ledger.js'
import { calmRounds, spread } from '../measure/statistics.js'

/** @import { Check, Subject, Wanted, Workload } from '../contract.js' */
/** @import { ThreadData, ThreadReport } from '../probes/thread.js' */

/** Ids of a thread in a round, and how long that may take where ids are slow. */
const mostIds = 2 ** 22
const roundMs = 150

/**
 * Worker threads on one node, each with a generator of its own, against one of them alone, in turns. The rate is all ids
 * over the time from the first start to the last end, so a thread that was left behind counts against it. The ratio is to
 * what the same threads gain where they only read the clock and share nothing: a machine that is busy, or has one core,
 * lets nobody gain, and rounds in which those gain less than 1.8 do not count, if there are others. Processor time tells
 * the same in another way: threads that get in each other's way spend more of it on each id.
 *
 * @param {object} workload
 * @param {string} workload.name
 * @param {string} workload.title
 * @param {Wanted} workload.wanted
 * @param {boolean} workload.withRivals - Who all have 12 bits of sequence or fewer.
 * @param {Workload['bars']} workload.bars
 * @returns {Workload}
 */
export function threads({ name, title, wanted, withRivals, bars }) {
  return {
    name,
    title,
    unit: '× one thread',
    yardstick: 'two reading the clock',
    bars,
    async run(subject, isQuick) {
      if (!makesIds(subject) || subject.isAsync || (subject.group === 'rival' && !withRivals)) return undefined
      const crew = await Crew.start(subject, wanted, 2)
      const count = await crew.calibrate(isQuick)
      const check = { ids: 0, repeats: 0, outOfOrder: 0, future: 0 }
      const { counted, disturbed } = await calmRounds(
        { look: { wanted: 3, most: 3 }, context: { wanted: 9, most: 12 }, claim: { wanted: 15, most: 45 } }[
          effortFor(subject, isQuick)
        ],
        async (number) => {
          /** @param {'make' | 'read clock'} task */
          const measure = async (task) => {
            // Each thread is the one alone in turn: processors need not be equal.
            const alone = await crew.run(task, count, 1, number % 2)
            const together = await crew.run(task, count, 2)
            return {
              one: count / alone.ms,
              two: (2 * count) / together.ms,
              oneCpu: alone.cpuNs / count,
              twoCpu: together.cpuNs / (2 * count),
            }
          }
          const control = await measure('read clock')
          const made = await measure('make')
          await crew.check(check, count)
          return { ...made, gain: made.two / made.one, control: control.two / control.one }
        },
        // Where the clock's readers did not gain, there were no two processors for anybody.
        (rounds) => rounds.filter(({ control }) => control >= 1.8),
      )
      await crew.end()
      /** @param {(round: typeof counted[number]) => number} value */
      const over = (value) => spread(counted.map(value))
      const rate = (/** @type {'one' | 'two'} */ which) =>
        `${(over((round) => round[which]).median / 1000).toFixed(1)} M/s`
      const cost = (/** @type {'oneCpu' | 'twoCpu'} */ which) => over((round) => round[which]).median.toFixed(1)
      return {
        figure: over(({ gain }) => gain),
        yardstick: over(({ control }) => control),
        ratio: over(({ gain, control }) => gain / control),
        check,
        ...(disturbed > 0 && { disturbed }),
        note: `one ${rate('one')}, two ${rate('two')}; of processor time ${cost('oneCpu')} and ${cost('twoCpu')} ns/id`,
      }
    },
  }
}

/** Workers that start together. */
export class Crew {
  #workers
  #arrays
  #gate = new Int32Array(new SharedArrayBuffer(4))

  /**
   * @param {Subject} subject
   * @param {Wanted} wanted
   * @param {number} most
   */
  static async start(subject, wanted, most) {
    // In this thread too: the js engine hands its memory to workers that are started after that.
    const source = (await subject.load())(wanted)
    source?.next?.()
    const crew = new Crew(subject, wanted, most)
    await Promise.all(crew.#workers.map((worker) => once(worker, 'message')))
    return crew
  }

  /**
   * @param {Subject} subject
   * @param {Wanted} wanted
   * @param {number} most
   */
  constructor(subject, wanted, most) {
    this.#arrays = Array.from({ length: most }, () => new BigUint64Array(new SharedArrayBuffer(mostIds * 8)))
    this.#workers = this.#arrays.map((ids) => {
      /** @type {ThreadData} */
      const workerData = { subject: subject.name, wanted, ids, gate: this.#gate }
      return new Worker(new URL('../probes/thread.js', import.meta.url), { workerData })
    })
  }

  /**
   * How many ids of each thread are enough for a round; all have warmed up then.
   *
   * @param {boolean} isQuick
   */
  async calibrate(isQuick) {
    const most = isQuick ? mostIds / 4 : mostIds
    let count = 256
    for (;;) {
      const { ms } = await this.run('make', count, this.#workers.length)
      if (ms > roundMs / 4 || count === most) return count
      count = Math.min(most, count * 4)
    }
  }

  /**
   * @param {'make' | 'read clock'} task
   * @param {number} count
   * @param {number} threads
   * @param {number} [first] - Who is among them.
   */
  async run(task, count, threads, first = 0) {
    const workers = this.#workers.slice(first, first + threads)
    Atomics.store(this.#gate, 0, 0)
    const replies = workers.map((worker) => once(worker, 'message'))
    const before = process.cpuUsage()
    for (const worker of workers) worker.postMessage({ do: task, count, threads })
    const reports = (await Promise.all(replies)).map(([report]) => /** @type {ThreadReport} */ (report))
    const { user, system } = process.cpuUsage(before)
    const starts = reports.map(({ startNs }) => Number(startNs))
    const ends = reports.map(({ endNs }) => Number(endNs))
    return { ms: (Math.max(...ends) - Math.min(...starts)) / 1e6, cpuNs: (user + system) * 1000 }
  }

  /**
   * Looks at what the last run of each thread has made; they have to have made `count` each. Each thread looks at its own
   * order and times over all rounds, and repeats are those between all of them in this one.
   *
   * @param {Check} check - Is added to.
   * @param {number} count
   */
  async check(check, count) {
    check.outOfOrder = 0
    check.future = 0
    for (const worker of this.#workers) {
      const reply = once(worker, 'message')
      worker.postMessage({ do: 'check' })
      const found = /** @type {Check} */ ((await reply)[0])
      check.outOfOrder += found.outOfOrder
      check.future += found.future
    }
    const all = new BigUint64Array(this.#arrays.length * count)
    for (const [i, ids] of this.#arrays.entries()) all.set(ids.subarray(0, count), i * count)
    check.ids += all.length
    check.repeats += countRepeats(all)
  }

  async end() {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }
}
