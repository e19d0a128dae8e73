// Makes ids in several threads, and never gives up: a thread that is refused tries again. Each thread appends
// its ids to a file of its own.
import { openSync, writeSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { isMainThread, parentPort, threadId, Worker, workerData } from 'node:worker_threads'
import { generatorOf, order } from './order.js'

/**
 * @typedef {object} Order
 * @property {import('./order.js').Plan} plan
 * @property {string} file - The path of the threads' files, to which `.<pid>.<thread>` is added.
 * @property {number} threads - They open their generators at the same moment.
 * @property {number} [terminateMs] - A thread is terminated, and another one started, so long after its first
 * ids.
 * @property {number} [closesAfter] - A thread closes its generator after so many arrays, and opens another.
 */

/** The codes with which a claim refuses a process, or asks it to wait. */
const refusals = ['ERR_STATE_UNREACHABLE', 'ERR_STATE_UNAVAILABLE', 'ERR_STATE_CORRUPT', 'ERR_CLOCK_ROLLBACK']

if (isMainThread) {
  /** @type {Order} */
  const given = order()
  writeSync(1, 'o')
  const ready = new Int32Array(new SharedArrayBuffer(8))
  const startThread = () => {
    const thread = new Worker(new URL(import.meta.url), { workerData: { ...given, ready } })
    if (given.terminateMs === undefined) return
    const replace = () => thread.terminate().then(startThread)
    thread.once('message', () => setTimeout(replace, given.terminateMs))
  }
  for (let i = 0; i < given.threads; i++) startThread()
} else {
  contend(workerData)
}

/** @param {Order & { ready: Int32Array }} order */
function contend({ plan, file, threads, ready, closesAfter = Number.POSITIVE_INFINITY }) {
  const out = openSync(`${file}.${process.pid}.${threadId}`, 'a')
  setPriority(constants.priority.PRIORITY_LOW)
  if (Atomics.add(ready, 0, 1) + 1 < threads) Atomics.wait(ready, 1, 0)
  Atomics.store(ready, 1, 1)
  Atomics.notify(ready, 1)
  const own = new BigUint64Array(64)
  /** @type {import('graupel').IdGenerator | undefined} */
  let ids
  let arrays = 0
  for (let hasMade = false; ; ) {
    let filled = own.length
    try {
      ids ??= generatorOf(plan)
      ids.fill(own)
    } catch (thrown) {
      const error = /** @type {{ code: string, filled?: number }} */ (thrown)
      if (!refusals.includes(error.code)) throw error
      filled = error.filled ?? 0
      Atomics.wait(ready, 1, 1, 1)
    }
    writeSync(out, own.subarray(0, filled))
    if (++arrays % closesAfter === 0) {
      ids?.close()
      ids = undefined
    }
    if (hasMade || filled === 0) continue
    hasMade = true
    writeSync(1, 'i')
    parentPort?.postMessage('made')
  }
}
