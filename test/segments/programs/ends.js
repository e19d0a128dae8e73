// Programs that have to end on their own, or have to stay. The command line chooses the program.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { createSegmentGenerator } from 'graupel/segments'
import { memoryStore } from 'graupel/stores'

const inner = memoryStore()
let isAway = false
let hangs = false
/** @type {import('graupel/stores').Store} */
const store = {
  ...inner,
  async read(key, signal) {
    if (hangs) await new Promise(() => {})
    if (isAway) throw new Error('connection refused')
    return inner.read(key, signal)
  },
}
const numbers = await createSegmentGenerator({ store, name: 'a', step: 10, prefetchAt: 0.5, callTimeoutMs: 200 })

/** @type {Record<string, () => Promise<unknown>>} */
const programs = {
  async idle() {},
  async shared() {
    const worker = new Worker(new URL('./segment-worker.js', import.meta.url), {
      workerData: { handle: numbers.handle },
    })
    await once(worker, 'message')
    worker.postMessage({ order: 'wait', count: 100, id: 1 })
    const [{ result }] = await once(worker, 'message')
    console.log(result.length)
    worker.postMessage({ order: 'end' })
  },
  async retry() {
    isAway = true
    numbers.take(5)
    numbers.next()
    while (numbers.stats().failures === 0) await new Promise((resolve) => setImmediate(resolve))
  },
  async hanging() {
    hangs = true
    numbers.take(5)
    numbers.next()
  },
  // The wait began after the timers of the store were set, and nothing else keeps the process alive.
  async waiting() {
    hangs = true
    numbers.take(10)
    numbers.nextAsync().catch(() => {})
    await Promise.resolve()
    await numbers.nextAsync().catch(({ code, cause }) => console.log(code, cause.code))
  },
  async waitingLate() {
    hangs = true
    numbers.take(5)
    numbers.next()
    await new Promise((resolve) => setTimeout(resolve, 20))
    numbers.take(4)
    await numbers.nextAsync().catch(({ code, cause }) => console.log(code, cause.code))
  },
  async waitingForRetry() {
    isAway = true
    numbers.take(5)
    numbers.next()
    while (numbers.stats().failures === 0) await new Promise((resolve) => setImmediate(resolve))
    numbers.take(4)
    isAway = false
    console.log(await numbers.nextAsync())
  },
}
await programs[process.argv[2] ?? '']?.()
console.log('done')
