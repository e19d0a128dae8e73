// Makes ids in a worker thread that has nothing but the handle of a lease.
import { parentPort, workerData } from 'node:worker_threads'
import { createGenerator } from 'graupel'

const { handle, engine } = workerData
const ids = createGenerator({ lease: handle, engine })
parentPort?.on('message', async (/** @type {'one' | 'many' | 'wait' | 'close'} */ order) => {
  if (order === 'close') return parentPort?.close()
  try {
    const made = order === 'one' ? [ids.next()] : order === 'many' ? ids.take(3000) : [await ids.nextAsync()]
    parentPort?.postMessage({ made, node: ids.node })
  } catch (error) {
    const { code, message } = /** @type {Error & { code: string }} */ (error)
    parentPort?.postMessage({ made: [], node: ids.node, code, message })
  }
})
parentPort?.postMessage('open')
