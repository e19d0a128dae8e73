// Makes numbers in a worker thread: with the handle of a generator in another thread, or with a generator of
// its own.
import { parentPort, workerData } from 'node:worker_threads'
import { createSegmentGenerator } from 'graupel/segments'
import { memoryStore } from 'graupel/stores'

const { handle, own } = workerData
const numbers = await createSegmentGenerator(own === undefined ? { handle } : { store: memoryStore(), ...own })

/** @param {number} count */
async function several(count) {
  const made = []
  while (made.length < count) made.push(await numbers.nextAsync())
  return made
}

/** Calls only next(), and gives the event loop a turn if no number is left. @param {number} count */
async function polled(count) {
  const made = []
  while (made.length < count) {
    try {
      made.push(numbers.next())
    } catch (error) {
      if (/** @type {{ code?: string }} */ (error).code !== 'ERR_EMPTY') throw error
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  return made
}

/** @type {Record<string, (count: number) => unknown>} */
const orders = {
  next: () => [numbers.next()],
  wait: several,
  poll: polled,
  take: (count) => numbers.take(count),
  stats: () => numbers.stats(),
  handle: () => numbers.handle,
  close: () => numbers.close(),
  /** Blocks the event loop for some milliseconds. */
  block: (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
  end: () => parentPort?.close(),
}
parentPort?.on('message', async ({ order, count, id }) => {
  try {
    if (order === 'block') parentPort?.postMessage({ id, result: 'blocked' })
    const result = await orders[order]?.(count)
    if (order !== 'block' && order !== 'end') parentPort?.postMessage({ id, result })
  } catch (error) {
    const { code, message, cause } = /** @type {Error & { code: string, cause?: { code: string } }} */ (error)
    parentPort?.postMessage({ id, error: { code, message, cause: cause?.code } })
  }
})
parentPort?.postMessage('open')
