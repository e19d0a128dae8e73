import { setImmediate as nextTurn } from 'node:timers/promises'
import { subjects } from '../subjects/index.js'

/**
 * Memory in use while generators are made, used once and dropped, in batches.
 *
 * @typedef {{ made: number, heap: number, external: number, resident: number }} LeakSample - Bytes.
 */

const [name, ending, batches = '40'] = process.argv.slice(2)
const perBatch = 10_000
const collect = /** @type {() => void} */ (globalThis.gc)
const subject = subjects.find((subject) => subject.name === name)
const open = await subject?.load()

function makeAndDrop() {
  const source = open?.({ layout: 'twitter', node: 9 })
  source?.next?.()
  if (ending === 'close') source?.close?.()
}

/** @type {LeakSample[]} */
const samples = []
for (let batch = 1; batch <= Number(batches); batch++) {
  for (let i = 0; i < perBatch; i++) makeAndDrop()
  // Finalizers run in turns of the event loop, and free what the next collection can then take.
  for (let i = 0; i < 4; i++) {
    collect()
    await nextTurn()
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  samples.push({ made: batch * perBatch, heap: heapUsed, external, resident: rss })
}
process.send?.(samples)
process.disconnect?.()
