import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { countRepeats } from '../measure/ledger.js'
import { spread } from '../measure/statistics.js'

/** @import { Wanted, Workload } from '../contract.js' */
/** @import { ThreadData, ThreadReport } from '../probes/thread.js' */

/**
 * Two worker threads on one node, each with a generator of its own, against one of them alone, in turns. The rate is all
 * ids over the time from the first start to the last end, so a thread that was left behind counts against it. The ratio
 * is to what the same two threads gain where they only read the clock and share nothing: a machine that is busy, or has
 * one core, lets nobody gain. Processor time tells the same in another way: threads that get in each other's way spend
 * more of it on each id.
 *
 * @param {object} workload
 * @param {string} workload.name
 * @param {string} workload.title
 * @param {Wanted} workload.wanted
 * @param {Workload['bars']} workload.bars
 * @returns {Workload}
 */
export function threads({ name, title, wanted, bars }) {
  return {
    name,
    title,
    unit: '× one thread',
    yardstick: 'two reading the clock',
    bars,
    async run(subject, isQuick) {
      // In this thread too: the js engine hands its memory to workers that are started after that.
      const open = await subject.load()
      if (subject.isYardstick || typeof open(wanted)?.next?.() !== 'bigint') return undefined
      const perThread = isQuick ? 2 ** 20 : 2 ** 22
      const gate = new Int32Array(new SharedArrayBuffer(4))
      const arrays = [0, 1].map(() => new BigUint64Array(new SharedArrayBuffer(perThread * 8)))
      const workers = arrays.map((ids) => {
        /** @type {ThreadData} */
        const workerData = { subject: subject.name, wanted, ids, gate }
        return new Worker(new URL('../probes/thread.js', import.meta.url), { workerData })
      })
      await Promise.all(workers.map((worker) => once(worker, 'message')))

      const check = { ids: 0, repeats: 0, outOfOrder: 0 }
      /** @type {Record<'one' | 'two' | 'gain' | 'control' | 'ratio' | 'oneCpu' | 'twoCpu', number[]>} */
      const series = { one: [], two: [], gain: [], control: [], ratio: [], oneCpu: [], twoCpu: [] }
      for (let round = 0; round < (isQuick ? 3 : 9); round++) {
        /** @param {'make' | 'read clock'} task */
        const measure = async (task) => {
          // Each thread is the one alone in turn: processors need not be equal.
          const alone = await runTogether(workers.slice(round % 2, (round % 2) + 1), gate, task)
          const together = await runTogether(workers, gate, task)
          return {
            alone: perThread / alone.ms,
            together: (2 * perThread) / together.ms,
            aloneCpu: alone.cpuNs / perThread,
            togetherCpu: together.cpuNs / (2 * perThread),
          }
        }
        const control = await measure('read clock')
        const { alone, together, aloneCpu, togetherCpu } = await measure('make')
        series.oneCpu.push(aloneCpu)
        series.twoCpu.push(togetherCpu)
        series.one.push(alone)
        series.two.push(together)
        series.gain.push(together / alone)
        series.control.push(control.together / control.alone)
        series.ratio.push((together / alone) * (control.alone / control.together))

        // Each thread's ledger counts over all rounds.
        check.outOfOrder = 0
        for (const worker of workers) {
          worker.postMessage({ do: 'check' })
          check.outOfOrder += /** @type {number} */ ((await once(worker, 'message'))[0])
        }
        const both = new BigUint64Array(2 * perThread)
        arrays.forEach((ids, i) => {
          both.set(ids, i * perThread)
        })
        check.ids += both.length
        check.repeats += countRepeats(both)
      }
      await Promise.all(workers.map((worker) => worker.terminate()))
      const rate = (/** @type {number[]} */ idsPerMs) => `${(spread(idsPerMs).median / 1000).toFixed(1)} M/s`
      const cost = (/** @type {number[]} */ ns) => spread(ns).median.toFixed(1)
      return {
        figure: spread(series.gain),
        yardstick: spread(series.control),
        ratio: spread(series.ratio),
        check,
        note: `one ${rate(series.one)}, two ${rate(series.two)}; of processor time ${cost(series.oneCpu)} and ${cost(series.twoCpu)} ns/id`,
      }
    },
  }
}

/**
 * @param {readonly Worker[]} workers
 * @param {Int32Array<SharedArrayBuffer>} gate
 * @param {'make' | 'read clock'} task
 */
async function runTogether(workers, gate, task) {
  Atomics.store(gate, 0, 0)
  const replies = workers.map((worker) => once(worker, 'message'))
  const before = process.cpuUsage()
  for (const worker of workers) worker.postMessage({ do: task, threads: workers.length })
  const reports = (await Promise.all(replies)).map(([report]) => /** @type {ThreadReport} */ (report))
  const { user, system } = process.cpuUsage(before)
  const starts = reports.map(({ startNs }) => Number(startNs))
  const ends = reports.map(({ endNs }) => Number(endNs))
  return { ms: (Math.max(...ends) - Math.min(...starts)) / 1e6, cpuNs: (user + system) * 1000 }
}
