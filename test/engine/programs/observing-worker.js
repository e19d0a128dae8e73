// Observes ids of another node, and makes ids on the node that it shares with other threads. Records each id
// in shared memory, so the main thread sees it even if this thread is ended at once.
import { workerData } from 'node:worker_threads'
import { createGenerator } from 'graupel'

const { options, ids, made, start, seen: memory } = workerData
const generator = createGenerator(options)
const record = new BigUint64Array(ids)
const count = new Int32Array(made)
const seen = new BigUint64Array(memory)
const flag = new Int32Array(start)

Atomics.add(flag, 1, 1)
Atomics.notify(flag, 1)
Atomics.wait(flag, 0, 0)

for (let i = 0; i < record.length; i++) {
  const id = generator.observe(Atomics.load(seen, 0))
  const next = generator.next()
  // A count that is negative tells the main thread of an id that is not above the observed one.
  if (next <= id) {
    Atomics.store(count, 0, -1)
    break
  }
  record[i] = next
  Atomics.store(count, 0, i + 1)
}
