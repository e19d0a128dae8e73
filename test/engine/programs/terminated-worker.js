// Makes generators, makes ids by each of their functions, and closes them, again and again, until the thread
// is ended. Records each id in shared memory, where the main thread sees it.
import { workerData } from 'node:worker_threads'
import { createGenerator, layouts } from 'graupel'

const { namespace, states, ids, made } = workerData
const record = new BigUint64Array(ids)
const count = new Int32Array(made)
const own = new BigUint64Array(32)

for (let round = 0; ; round++) {
  const generator = createGenerator({
    node: 1,
    namespace,
    layout: layouts.wide,
    state: states[round % states.length],
    onRollback: round % 2 === 0 ? 'advance' : 'reuse',
    onOverflow: 'advance',
    maxAheadMs: 600_000,
    maxWaitMs: 600_000,
  })
  keep(generator.next())
  keep(await generator.nextAsync())
  for (const id of generator.fill(own)) keep(id)
  generator.stats()
  // The collector, or the end of the thread, closes the other generators.
  if (round % 4 !== 0) generator.close()
}

/** @param {bigint} id */
function keep(id) {
  const at = Atomics.load(count, 0)
  // The array is full.
  if (at === record.length) return
  record[at] = id
  Atomics.store(count, 0, at + 1)
}
