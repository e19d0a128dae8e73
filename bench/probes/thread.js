import { parentPort, workerData } from 'node:worker_threads'
import { Ledger } from '../measure/ledger.js'
import { subjects } from '../subjects/index.js'

/** @import { Wanted } from '../contract.js' */

/**
 * One of the threads of `workloads/threads.js`.
 *
 * @typedef {{ subject: string, wanted: Wanted, ids: BigUint64Array<SharedArrayBuffer>, gate: Int32Array<SharedArrayBuffer> }} ThreadData
 * @typedef {{ do: 'make' | 'read clock', threads: number } | { do: 'check' }} ThreadTask
 * @typedef {{ startNs: bigint, endNs: bigint }} ThreadReport
 */

const { subject: name, wanted, ids, gate } = /** @type {ThreadData} */ (workerData)
const subject = subjects.find((subject) => subject.name === name)
const source = (await subject?.load())?.(wanted)
const generator = /** @type {{ next(): bigint }} */ (source)
const ledger = new Ledger()

function run() {
  for (let i = 0; i < ids.length; i++) ids[i] = generator.next()
}

const readings = new Float64Array(ids.length)
function readClock() {
  for (let i = 0; i < readings.length; i++) readings[i] = Date.now()
}

parentPort?.on('message', (/** @type {ThreadTask} */ task) => {
  if (task.do === 'check') {
    ledger.add(ids)
    parentPort?.postMessage(ledger.report().outOfOrder)
    return
  }
  // Everybody who takes part has arrived before anybody starts. Awake, because to be woken takes longer than a lease.
  Atomics.add(gate, 0, 1)
  while (Atomics.load(gate, 0) < task.threads) {}
  const startNs = process.hrtime.bigint()
  if (task.do === 'make') run()
  else readClock()
  parentPort?.postMessage({ startNs, endNs: process.hrtime.bigint() })
})

run()
parentPort?.postMessage('ready')
