import { parentPort, workerData } from 'node:worker_threads'
import { keepNext } from '../measure/keep.js'
import { Ledger } from '../measure/ledger.js'
import { stampOf } from '../measure/stamps.js'
import { subjects } from '../subjects/index.js'

/** @import { Kept } from '../measure/keep.js' */
/** @import { Source, Subject, Wanted } from '../contract.js' */

/**
 * One of the threads of `workloads/threads.js`.
 *
 * @typedef {{ subject: string, wanted: Wanted, ids: BigUint64Array<SharedArrayBuffer>, gate: Int32Array<SharedArrayBuffer> }} ThreadData
 * @typedef {{ do: 'make' | 'read clock', count: number, threads: number } | { do: 'check' }} ThreadTask
 * @typedef {{ startNs: bigint, endNs: bigint }} ThreadReport
 */

const { subject: name, wanted, ids, gate } = /** @type {ThreadData} */ (workerData)
const subject = /** @type {Subject} */ (subjects.find((subject) => subject.name === name))
const source = /** @type {Source} */ ((await subject.load())(wanted))
const ledger = new Ledger(stampOf(subject, wanted))
/** @type {Map<number, Kept>} */
const loops = new Map()
let made = 0
let madeMs = 0

/** @param {number} count */
function loopOf(count) {
  const loop = loops.get(count) ?? /** @type {Kept} */ (keepNext(subject, source, count))
  loops.set(count, loop)
  return loop
}

/** @param {number} count */
function clockLoop(count) {
  const readings = new Float64Array(count)
  return () => {
    for (let i = 0; i < readings.length; i++) readings[i] = Date.now()
  }
}

parentPort?.on('message', async (/** @type {ThreadTask} */ task) => {
  if (task.do === 'check') {
    const kept = loopOf(made).ids()
    ledger.add(kept, madeMs)
    ids.set(kept)
    parentPort?.postMessage(ledger.report())
    return
  }
  const run = task.do === 'make' ? loopOf(task.count).run : clockLoop(task.count)
  if (task.do === 'make') made = task.count
  // Everybody who takes part has arrived before anybody starts. Awake, because to be woken takes longer than a lease.
  Atomics.add(gate, 0, 1)
  while (Atomics.load(gate, 0) < task.threads) {}
  const startNs = process.hrtime.bigint()
  const pending = run()
  if (pending !== undefined) await pending
  const endNs = process.hrtime.bigint()
  if (task.do === 'make') madeMs = Date.now()
  parentPort?.postMessage({ startNs, endNs })
})

parentPort?.postMessage('ready')
