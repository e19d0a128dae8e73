// Parks a lease of the main thread, and prints what the calls of a worker do before and after that. The order
// is JSON in the arguments.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/**
 * @typedef {object} Order
 * @property {'ids' | 'segments' | 'handle' | 'lease'} makes what the worker makes
 * @property {object} options of the ids
 * @property {boolean} isEarly whether the worker starts before the main thread imports the package
 * @property {string[]} calls what the worker calls before and after the parking
 */

/** @type {Order} */
const { makes, options, isEarly, calls } = JSON.parse(process.argv[2] ?? '')

const program = `
  const { once } = require('node:events')
  const { parentPort, workerData: { makes, options } } = require('node:worker_threads')
  const opened = {
    ids: async () => (await import('graupel')).createGenerator(options),
    segments: async () => {
      const [{ createSegmentGenerator }, { memoryStore }] = await Promise.all([import('graupel/segments'), import('graupel/stores')])
      return createSegmentGenerator({ store: memoryStore(), name: 'orders', step: 1000 })
    },
    // The segments of the main thread, whose handle is the first message.
    handle: async () => {
      const [handle] = await once(parentPort, 'message')
      return (await import('graupel/segments')).createSegmentGenerator({ handle })
    },
    lease: async () => {
      const [{ acquireLease }, { memoryStore }] = await Promise.all([import('graupel/lease'), import('graupel/stores')])
      return acquireLease({ store: memoryStore() })
    },
  }[makes]()
  opened.catch(() => {})
  const calls = {
    next: ({ next }) => next(),
    fill: (made) => made.fill(new BigUint64Array(3))[2],
    nextAsync: ({ nextAsync }) => nextAsync(),
    park: (lease) => lease.park(),
    resume: (lease) => lease.resume(),
  }
  parentPort.on('message', async (names) => {
    if (!Array.isArray(names)) return
    const results = []
    for (const name of names) {
      try {
        results.push(String(await calls[name](await opened)))
      } catch (error) {
        results.push(error.code ?? String(error))
      }
    }
    parentPort.postMessage(results)
  })
`
const start = async () => {
  const worker = new Worker(program, { eval: true, workerData: { makes, options } })
  await once(worker, 'online')
  return worker
}
const early = isEarly ? await start() : undefined
const { acquireLease } = await import('graupel/lease')
const { memoryStore } = await import('graupel/stores')
const lease = await acquireLease({ store: memoryStore() })
const worker = early ?? (await start())
if (makes === 'handle') {
  const { createSegmentGenerator } = await import('graupel/segments')
  const orders = await createSegmentGenerator({ store: memoryStore(), name: 'orders', step: 1000 })
  worker.postMessage(orders.handle)
}
const answers = async () => {
  worker.postMessage(calls)
  return (await once(worker, 'message'))[0]
}
const before = await answers()
await lease.park()
const after = await answers()
console.log(JSON.stringify({ before, after }))
process.exit()
