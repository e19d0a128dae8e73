// Makes UUIDs in a worker thread that has nothing but the handle of a lease.
import { parentPort, workerData } from 'node:worker_threads'
import { createUuidGenerator } from 'graupel/uuid'

const uuids = createUuidGenerator({ lease: workerData.handle, engine: workerData.engine })
parentPort?.on('message', () => {
  try {
    parentPort?.postMessage({ made: uuids.take(3000) })
  } catch (error) {
    parentPort?.postMessage({ made: [], code: /** @type {Error & { code: string }} */ (error).code })
  }
})
parentPort?.postMessage('open')
