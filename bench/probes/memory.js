import { setImmediate as nextTurn } from 'node:timers/promises'
import { subjects } from '../subjects/index.js'

/** @import { Source } from '../contract.js' */

/**
 * Memory of thousands of generators, on one node or on as many, and each having made an id.
 *
 * @typedef {{ heap: number, resident: number }} MemoryGrowth - Bytes, by a thousand.
 */

const [name, nodes] = process.argv.slice(2)
const collect = /** @type {() => void} */ (globalThis.gc)
const subject = subjects.find((subject) => subject.name === name)
const open = await subject?.load()

/** @type {(Source | undefined)[]} */
const kept = []

/** @param {string} namespace */
async function makeThousand(namespace) {
  for (let i = 0; i < 1000; i++) {
    const node = nodes === 'one node' ? 1 : i
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
const before = await inUse()
// Several, because allocators take memory in large steps.
const thousands = ['second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth']
for (const namespace of thousands) await makeThousand(namespace)
const after = await inUse()
/** @type {MemoryGrowth} */
const growth = {
  heap: (after.heap - before.heap) / thousands.length,
  resident: (after.resident - before.resident) / thousands.length,
}
process.send?.(growth)
process.disconnect?.()
