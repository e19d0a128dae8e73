// Makes ids, in several threads if its order says so. Each thread appends each batch to its own file as soon
// as the batch is made, so the ids are recorded even if this process is killed at once.
import cluster from 'node:cluster'
import { openSync, writeSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { isMainThread, threadId, Worker, workerData } from 'node:worker_threads'
import { generatorOf, order } from './order.js'

/**
 * @typedef {object} Order
 * @property {import('./order.js').Plan} plan
 * @property {string} file - The path of the threads' files, to which `.<pid>.<thread>` is added unless
 * `exact`.
 * @property {boolean} [exact]
 * @property {number} [threads]
 * @property {number} [forks] - Workers of node:cluster instead of this process.
 * @property {number} [count] - Ids of each thread; without it the threads never end.
 * @property {number} [batch]
 * @property {number} [pauseMs] - The pause after each batch, which makes this process slow.
 */

/** @type {Order} */
const given = isMainThread ? order() : workerData

if (given.forks !== undefined && cluster.isPrimary) {
  cluster.setupPrimary({ exec: fileURLToPath(import.meta.url), args: [JSON.stringify(given)] })
  for (let i = 0; i < given.forks; i++) {
    cluster.fork().on('exit', (code) => {
      if (code !== 0) process.exitCode = 1
    })
  }
} else if (isMainThread && given.threads !== undefined) {
  for (let i = 0; i < given.threads; i++) new Worker(new URL(import.meta.url), { workerData: given })
} else {
  record(given)
  // A worker of node:cluster has a channel to its parent, which would keep it alive.
  if (cluster.isWorker) process.disconnect()
}

/** @param {Order} order */
function record({ plan, file, exact = false, count = Number.POSITIVE_INFINITY, batch = 4096, pauseMs = 0 }) {
  // 'o' before anything is opened, 'i' after the first ids. Tests kill the process at these moments.
  if (isMainThread) writeSync(1, 'o')
  const ids = patiently(() => generatorOf(plan))
  const out = openSync(exact ? file : `${file}.${process.pid}.${threadId}`, 'a')
  // The lowest priority for this thread: processes that start, and the test that kills them, go first.
  setPriority(constants.priority.PRIORITY_LOW)
  const own = new BigUint64Array(batch)
  const still = new Int32Array(new SharedArrayBuffer(4))
  for (let made = 0; made < count; made += batch) {
    const part = own.subarray(0, Math.min(batch, count - made))
    // take() and next() alternate.
    if (made % (batch * 4) === 0) {
      for (let i = 0; i < part.length; i++) part[i] = patiently(() => ids.next())
    } else {
      patiently(() => ids.fill(part))
    }
    writeSync(out, part)
    if (made === 0) writeSync(1, 'i')
    if (pauseMs > 0) Atomics.wait(still, 0, 0, pauseMs)
  }
  ids.close()
}

/**
 * Tries again if another process holds the lock of a state file for longer than a second, because other
 * programs keep the disk busy.
 * @template T
 * @param {() => T} attempt
 */
function patiently(attempt) {
  for (let tries = 1; ; tries++) {
    try {
      return attempt()
    } catch (error) {
      const isLocked = error instanceof Error && error.message.includes('has been locked by another process')
      if (!isLocked || tries === 30) throw error
    }
  }
}
