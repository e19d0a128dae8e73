import { setImmediate as nextTurn } from 'node:timers/promises'
import { subjects } from '../subjects/index.js'

/** @import { Source } from '../contract.js' */

/**
 * Memory of a thousand generators, each on a node of its own and each having made an id, again and again.
 *
 * @typedef {{ heap: number, resident: number }} MemoryGrowth - Bytes, by a thousand.
 */

const [name] = process.argv.slice(2)
const collect = /** @type {() => void} */ (globalThis.gc)
const subject = subjects.find((subject) => subject.name === name)
const open = await subject?.load()

/** @type {(Source | undefined)[]} */
const kept = []

/** @param {string} namespace */
async function makeThousand(namespace) {
  for (let node = 0; node < 1000; node++) {
    const source = open?.({ layout: 'twitter', node, namespace, isMany: true })
    await source?.next?.()
    kept.push(source)
  }
}

async function inUse() {
  // Finalizers run in turns of the event loop, and free what the next collection can then take.
  for (let i = 0; i < 4; i++) {
    collect()
    await nextTurn()
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, resident: rss }
}

// The first thousand brings the engine, the code that V8 makes of what runs often, and the pages of its nursery: nearly
// a mebibyte that is there once, whatever comes after.
await makeThousand('first')
let before = await inUse()
/** @type {MemoryGrowth[]} */
const growths = []
for (const namespace of ['second', 'third', 'fourth', 'fifth']) {
  await makeThousand(namespace)
  const after = await inUse()
  growths.push({ heap: after.heap - before.heap, resident: after.resident - before.resident })
  before = after
}
process.send?.(growths)
process.disconnect?.()
