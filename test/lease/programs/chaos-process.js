// One process of the chaos test: has a lease, makes ids in its main thread and, by the handle, in worker
// threads, and logs the events of the lease. After SIGTERM it gives the lease back and ends. If a lease ends,
// it acquires another.
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, threadId, Worker, workerData } from 'node:worker_threads'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { makeIds } from '../../chaos/programs/caller.js'
import { openStore } from '../../stores/programs/open-store.js'
import { layout, nodes } from './chaos-layout.js'

/**
 * @typedef {object} Policy
 * @property {'native' | 'js' | 'auto'} engine
 * @property {'throw' | 'wait' | 'advance' | 'reuse' | 'function'} onRollback
 * @property {'throw' | 'wait' | 'advance'} onOverflow
 * @property {number} maxAheadMs
 * @property {number} maxWaitMs
 * @property {'zero' | 'random' | 'rotate'} sequenceStart
 * @property {'wall' | 'steady'} clock
 */

/**
 * @typedef {object} Order
 * @property {import('../../stores/programs/open-store.js').StorePlan} store
 * @property {string} file - The beginning of the names of its files.
 * @property {object} lease - Options of the lease.
 * @property {Policy[]} policies - One for each thread; the main thread's first.
 * @property {number} seed
 * @property {number} pauseMs
 */

/** Codes with which an acquisition may end while faults go on. */
const expected = ['ERR_NODES_EXHAUSTED', 'ERR_CLOCK_SKEW', 'ERR_STORE_UNAVAILABLE', 'ERR_LEASE_EXPIRED']

/** Codes with which a call of a generator may end. */
const expectedOfCalls = [
  'ERR_LEASE_EXPIRED',
  'ERR_CLOSED',
  'ERR_CLOCK_ROLLBACK',
  'ERR_SEQUENCE_OVERFLOW',
  'ERR_NODES_EXHAUSTED',
]

if (isMainThread) await live(JSON.parse(process.argv[2] ?? ''))
else await work(workerData)

/** @param {Order} order */
async function live({ store: plan, file, lease: options, policies, seed, pauseMs }) {
  const leaving = new AbortController()
  process.on('SIGTERM', () => leaving.abort())
  // The file of events shows that the process has started.
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
        ? makeIdsOf({ ...order, lease, isOver: () => lease.signal.aborted })
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
 * The file of a caller, which is a lease in a thread. The order is `any` if the policy gives the order up.
 *
 * @param {string} file
 * @param {number} thread
 * @param {number} leases
 * @param {Policy} policy
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
  const errors = await makeIdsOf({ ...order, seed: order.seed + threadId, isOver: () => isOver })
  parentPort?.postMessage(errors)
}

/**
 * @param {{ lease: any, policy: Policy, file: string, seed: number, pauseMs: number, isOver: () => boolean }}
 * order
 * @returns {Promise<object>}
 */
async function makeIdsOf({ lease, policy, ...order }) {
  const { onRollback, ...rest } = policy
  const options = { lease, ...rest, onRollback: onRollback === 'function' ? small : onRollback }
  /** @type {import('graupel').IdGenerator} */
  let ids
  try {
    ids = createGenerator(options)
  } catch (error) {
    const { code, message } = /** @type {import('graupel').GraupelError} */ (error)
    // The lease was released before the thread could begin.
    if (expectedOfCalls.includes(code)) return { [code]: 1, message }
    throw error
  }
  return makeIds({ ...order, ids, expected: expectedOfCalls })
}

/** @param {{ rollbackMs: number }} rollback */
function small({ rollbackMs }) {
  return rollbackMs <= 1000 ? 'advance' : 'wait'
}
