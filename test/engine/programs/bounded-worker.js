// Makes ids in a worker thread, below a ceiling that the main thread raises, and reports their number.
import { parentPort, workerData } from 'node:worker_threads'
import { tsImport } from 'tsx/esm/api'

/** @type {typeof import('../../../src/engine/open.js')} */
const { openCore } = await tsImport('../../../src/engine/open.ts', import.meta.url)
const { engine, spec } = workerData
const core = openCore(engine, spec)
parentPort?.on('message', (/** @type {'make' | 'close'} */ order) => {
  if (order === 'close') return parentPort?.close()
  const ids = []
  while (core.takeOne() === 0) ids.push(core.id)
  parentPort?.postMessage({ ids, status: core.observe().status })
})
parentPort?.postMessage('open')
