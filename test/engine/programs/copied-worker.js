// Makes ids on node 7, and then one more when it is asked to; tells the code of the error.
import { parentPort, workerData } from 'node:worker_threads'
import { createGenerator } from 'graupel'

const ids = createGenerator({ node: 7, namespace: workerData.namespace })
ids.take(100)
parentPort?.once('message', () => {
  try {
    parentPort?.postMessage(String(ids.next()))
  } catch (error) {
    parentPort?.postMessage(/** @type {{ code: string }} */ (error).code)
  }
})
parentPort?.postMessage('open')
