// One process of the chaos test: has a lease, makes ids in its main thread and, by the handle, in worker threads, and logs the
// events of the lease. SIGTERM: gives the lease back, and ends. Where a lease ends for good, it acquires another one.
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, threadId, Worker, workerData } from 'node:worker_threads'
import { acquireLease } from 'graupel/lease'
import { openStore } from '../../stores/programs/open-store.js'
import { makeIds } from './chaos-caller.js'
import { layout, nodes } from './chaos-layout.js'

/**
 * @typedef {object} Order
 * @property {import('../../stores/programs/open-store.js').StorePlan} store
 * @property {string} file - What the names of its files begin with.
 * @property {object} lease - Options of the lease.
 * @property {import('./chaos-caller.js').Policy[]} policies - One for each thread; the main thread's first.
 * @property {number} seed
 * @property {number} pauseMs
 */

/** What an acquisition may end with while faults go on. */
const expected = ['ERR_NODES_EXHAUSTED', 'ERR_CLOCK_SKEW', 'ERR_STORE_UNAVAILABLE', 'ERR_LEASE_EXPIRED']

if (isMainThread) await live(JSON.parse(process.argv[2] ?? ''))
else await work(workerData)

/** @param {Order} order */
async function live({ store: plan, file, lease: options, policies, seed, pauseMs }) {
  const leaving = new AbortController()
  process.on('SIGTERM', () => leaving.abort())
  // Its file of events says that it has come to here, and ends well when it is told to.
  const log = openSync(`${file}.events`, 'a')
  const note = (/** @type {object} */ what) => {
    writeSync(log, `${JSON.stringify({ monotonicMs: Number(process.hrtime.bigint()) / 1e6, ...what })}\n`)
  }
  subscribe('graupel:lease', (event) => {
    const { type, node, ceilingMs, error } = /** @type {import('graupel').LeaseEvent} */ (event)
    note({ type, node, ceilingMs, error: error?.message })
  })
  // Orphans end.
  process.on('disconnect', () => process.exit())
  const store = await openStore(plan)
  for (let leases = 0; !leaving.signal.aborted; leases++) {
    const { signal } = leaving
    const lease = await acquireLease({ ...options, store, layout, nodes, signal }).catch((error) => {
      note({ type: 'no lease', error: `${error}` })
      if (!expected.includes(error.code) && !signal.aborted) throw error
    })
    if (lease === undefined) {
      await sleep(200)
      continue
    }
    const callers = policies.map((policy, thread) => {
      const order = { policy, seed: seed + thread, pauseMs, file: nameOf(file, thread, leases, policy) }
      return thread === 0
        ? makeIds({ ...order, lease, isOver: () => lease.signal.aborted })
        : inWorker({ ...order, lease: lease.handle }, lease.signal)
    })
    signal.addEventListener('abort', () => void lease.release().catch((error) => note({ error: `${error}` })))
    for (const errors of await Promise.all(callers)) note({ type: 'errors', ...errors })
    if (!signal.aborted) note({ type: 'over', error: `${lease.signal.reason}` })
    await lease.release().catch(() => {})
  }
  process.exit()
}

/**
 * A file for each caller: a lease in a thread. `any` order where the policy gives the order up.
 *
 * @param {string} file
 * @param {number} thread
 * @param {number} leases
 * @param {import('./chaos-caller.js').Policy} policy
 */
function nameOf(file, thread, leases, { onRollback }) {
  return `${file}.${thread}.${leases}.${onRollback === 'reuse' ? 'any' : 'ascending'}.ids`
}

/**
 * @param {object} order
 * @param {AbortSignal} over
 */
async function inWorker(order, over) {
  const worker = new Worker(new URL(import.meta.url), { workerData: order })
  const stop = () => worker.postMessage('stop')
  if (over.aborted) stop()
  else over.addEventListener('abort', stop)
  const [errors] = await once(worker, 'message')
  return errors
}

/** @param {any} order */
async function work(order) {
  let isOver = false
  parentPort?.once('message', () => {
    isOver = true
  })
  const errors = await makeIds({ ...order, seed: order.seed + threadId, isOver: () => isOver })
  parentPort?.postMessage(errors)
}
