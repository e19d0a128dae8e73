// Makes ids by views in a worker thread and records each id in shared memory, so the main thread sees it even
// if this thread is ended at once.
import { workerData } from 'node:worker_threads'
import { createGenerator } from 'graupel'
import { layout, makeIds, recorder } from './view-maker.js'

const { options, ids, made, start } = workerData
/** @type {import('graupel').IdGenerator<typeof layout.fields>} */
const generator = createGenerator(options.lease === undefined ? { ...options, layout } : options)
const flag = new Int32Array(start)

Atomics.add(flag, 1, 1)
Atomics.notify(flag, 1)
Atomics.wait(flag, 0, 0)

await makeIds(generator, recorder(new BigUint64Array(ids), new Int32Array(made)))
