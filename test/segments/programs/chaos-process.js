// One process of the chaos test: makes numbers of segments in its main thread and, by the handle, in worker
// threads, and logs the events of the segments. After some seconds it ends its generator and creates another
// generator, which knows nothing of the earlier numbers. SIGTERM ends the generator and the process.
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createSegmentGenerator } from 'graupel/segments'
import { makeIds } from '../../chaos/programs/caller.js'
import { openStore } from '../../stores/programs/open-store.js'

/**
 * @typedef {object} Order
 * @property {import('../../stores/programs/open-store.js').StorePlan} store
 * @property {string} file - The prefix of the names of its files.
 * @property {Omit<import('graupel/segments').SegmentOptions, 'store'>} segments
 * @property {number} threads
 * @property {number} lifeMs - The time for which each generator is used.
 * @property {number} burst
 * @property {number} seed
 * @property {number} pauseMs
 */

/** The errors of calls while faults go on. */
const expected = ['ERR_EMPTY', 'ERR_CLOSED']

if (isMainThread) await live(JSON.parse(process.argv[2] ?? ''))
else await work(workerData)

/** @param {Order} order */
async function live({ store: plan, file, segments, threads, lifeMs, seed, ...rest }) {
  const leaving = new AbortController()
  const { signal } = leaving
  process.on('SIGTERM', () => leaving.abort())
  // The file of events shows that the process has come this far, and whether it ended regularly.
  const log = openSync(`${file}.events`, 'a')
  const note = (/** @type {object} */ what) => {
    writeSync(log, `${JSON.stringify({ monotonicMs: Number(process.hrtime.bigint()) / 1e6, ...what })}\n`)
  }
  subscribe('graupel:segments', (event) => {
    const { type, error, from, count } = /** @type {import('graupel').SegmentsEvent} */ (event)
    note({ type, error: error?.message ?? `${count} from ${from} on` })
  })
  // A process whose parent has died ends.
  process.on('disconnect', () => process.exit())
  const store = await openStore(plan)
  for (let lives = 0; !signal.aborted; lives++) {
    const numbers = await createSegmentGenerator({ ...segments, store, signal }).catch((error) => {
      note({ type: 'no numbers', error: `${error}` })
      if (error.code !== 'ERR_STORE_UNAVAILABLE' && !signal.aborted) throw error
    })
    if (numbers === undefined) {
      await sleep(200)
      continue
    }
    note({ type: 'created' })
    const life = new AbortController()
    const over = AbortSignal.any([signal, life.signal])
    // The generator is closed while all callers use it.
    over.addEventListener('abort', () => numbers.close())
    const callers = Array.from({ length: threads }, (_, thread) => {
      const order = {
        ...rest,
        expected,
        seed: seed + thread + 100 * lives,
        file: `${file}.${thread}.${lives}.ascending.ids`,
      }
      return thread === 0
        ? makeIds({ ...order, ids: numbers, isOver: () => over.aborted })
        : inWorker({ ...order, handle: numbers.handle }, over)
    })
    const end = setTimeout(() => life.abort(), lifeMs)
    for (const errors of await Promise.all(callers)) note({ type: 'errors', ...errors })
    clearTimeout(end)
  }
  process.exit()
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
async function work({ handle, ...order }) {
  let isOver = false
  parentPort?.once('message', () => {
    isOver = true
  })
  const ids = await createSegmentGenerator({ handle })
  parentPort?.postMessage(await makeIds({ ...order, ids, isOver: () => isOver }))
}
