// Executes its parent's orders one at a time, so that a test can look between the steps of a process's life.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { generatorOf } from './order.js'

/** @typedef {{ call: string, argument: any }} Order */

/** @type {import('graupel').IdGenerator | undefined} */
let ids
/** @type {import('graupel').IdGenerator | undefined} The generator of {@link orders.inSameThread}. */
let second
/** @type {Worker | undefined} */
let worker
const still = new Int32Array(new SharedArrayBuffer(4))

/** @type {Record<string, (argument: any) => any>} */
const orders = {
  /** @param {import('./order.js').Plan} plan */
  open(plan) {
    ids = generatorOf(plan)
  },
  /**
   * Makes ids, one in each pause, until a call throws, or as many as the bound allows.
   *
   * @param {import('../../support/processes.js').Bound} bound
   */
  issue({ count = Number.POSITIVE_INFINITY, rises = Number.POSITIVE_INFINITY, pauseMs = 1 }) {
    const made = []
    let { ceilingMs } = generator().stats()
    let risen = 0
    let error
    let errorMs
    while (error === undefined && made.length < count && risen < rises) {
      try {
        made.push(generator().next())
      } catch (thrown) {
        errorMs = Date.now()
        error = plain(thrown)
      }
      const next = generator().stats().ceilingMs
      if (next !== ceilingMs) risen++
      ceilingMs = next
      if (pauseMs > 0) Atomics.wait(still, 0, 0, pauseMs)
    }
    return { ids: BigUint64Array.from(made), ceilingMs, error, errorMs }
  },
  /** @param {number} count */
  take: (count) => generator().take(count),
  stats: () => generator().stats(),
  nowMs: () => Date.now(),
  /** @param {number} user - The new user, permanently. */
  becomeUser: (user) => process.setuid?.(user),
  /** @param {number} user - The new user until the next call. */
  actAs: (user) => process.seteuid?.(user),
  close: () => generator().close(),
  exit: () => void setImmediate(() => process.exit()),
  /** @param {string} script - Runs in the same mount namespace. */
  shell: (script) => execFileSync('sh', ['-ec', script], { encoding: 'utf8' }),
  /** @param {Order} order - The order for a second generator of this thread. */
  inSameThread(order) {
    const first = ids
    ids = second
    try {
      return perform(order)
    } finally {
      second = ids
      ids = first
    }
  },
  /** @param {Order} order - The order for a worker thread. The first order starts the thread. */
  async inOtherThread(order) {
    worker ??= new Worker(new URL(import.meta.url))
    worker.postMessage(order)
    const [{ result, error }] = await once(worker, 'message')
    if (error !== undefined) throw error
    return result
  },
  /** Ends the worker thread. */
  async endThread() {
    await worker?.terminate()
    worker = undefined
  },
}

function generator() {
  if (ids === undefined) throw new Error('open it first')
  return ids
}

/** @param {unknown} error */
function plain(error) {
  const { code, message, cause, filled, rollbackMs, retryAfterMs } = /** @type {Record<string, any>} */ (error)
  return { code, message, causeCode: cause?.code, filled, rollbackMs, retryAfterMs }
}

/** @param {Order} order */
function perform({ call, argument }) {
  const act = orders[call]
  if (act === undefined) throw new Error(`there is no order '${call}'`)
  return act(argument)
}

/** @param {Order} order */
async function obey(order) {
  try {
    return { result: await perform(order) }
  } catch (error) {
    return { error: plain(error) }
  }
}

if (isMainThread) {
  process.on('message', async (order) => process.send?.(await obey(/** @type {Order} */ (order))))
  // A process whose parent has died ends.
  process.on('disconnect', () => process.exit())
} else {
  parentPort?.on('message', async (order) => parentPort?.postMessage(await obey(order)))
}
