// Makes ids in a worker thread and records each id in shared memory, so the main thread sees it even if this
// thread is ended at once.
import { workerData } from 'node:worker_threads'
import { createGenerator } from 'graupel'

const { options, ids, made, start, calls } = workerData
const generator = createGenerator(options)
const record = new BigUint64Array(ids)
const count = new Int32Array(made)
const flag = new Int32Array(start)

Atomics.add(flag, 1, 1)
Atomics.notify(flag, 1)
Atomics.wait(flag, 0, 0)

const own = new BigUint64Array(64)
for (let i = 0; i < record.length; ) {
  if (calls === 'next') {
    record[i++] = generator.next()
  } else {
    // The thread uses every way to make ids in turn.
    generator.fill(own)
    record.set(own.subarray(0, record.length - i), i)
    i = Math.min(record.length, i + own.length)
    if (i < record.length) record[i++] = generator.next()
    if (i < record.length) record[i++] = BigInt(generator.nextString())
  }
  Atomics.store(count, 0, i)
}
