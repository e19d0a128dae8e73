// Makes ids by views in a worker thread and records each id in shared memory, so the main thread sees it even
// if this thread is ended at once.
import { workerData } from 'node:worker_threads'
import { createGenerator } from 'graupel'
import { layout, makeIds, recorder } from './view-maker.js'

const { options, ids, made, start, pauseMs = 0 } = workerData
/** @type {import('graupel').IdGenerator<typeof layout.fields>} */
const generator = createGenerator(options.lease === undefined ? { ...options, layout } : options)
const flag = new Int32Array(start)

Atomics.add(flag, 1, 1)
Atomics.notify(flag, 1)
Atomics.wait(flag, 0, 0)

const record = recorder(new BigUint64Array(ids), new Int32Array(made))
for (let isDone = false; !isDone; ) {
  try {
    await makeIds(generator, (some) => {
      if (pauseMs > 0) Atomics.wait(flag, 2, 0, pauseMs)
      return record(some)
    })
    isDone = true
  } catch (error) {
    // While a lease moves, its former state is sealed, and the thread does not know the next.
    if (/** @type {{ code?: string }} */ (error).code !== 'ERR_LEASE_EXPIRED') throw error
  }
}
