// Starts workers and ends them at the times of its order, in the middle of any call. The order is JSON, and
// so is the outcome, which terminations.ts judges.
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

/**
 * @typedef {{ isLoading: boolean, afterMs: number }} End when to end a worker: so long after its start, or
 * after its first id
 * @typedef {{ namespace: string, states: string[], rounds: End[][], isFirst: boolean, exits: boolean }} Order
 *   `isFirst`: this thread imports the package before it starts workers. `exits`: by process.exit() in the
 *   last round.
 */

/** @type {Order} */
const { namespace, states, rounds, isFirst, exits } = JSON.parse(process.argv[2] ?? '')
const maxIds = 1 << 17

const own = isFirst ? await open() : undefined
/** @type {BigUint64Array[]} */
const all = []
for (const [at, round] of rounds.entries()) {
  const workers = round.map(start)
  const ends = workers.map(({ worker, whenToEnd, recorded }) =>
    whenToEnd().then(() => {
      // The process exits at once, not when this function has ended.
      if (exits && at === rounds.length - 1) {
        writeSync(1, JSON.stringify({ last: `${lastOf([...all, ...workers.map(({ recorded }) => recorded())])}` }))
        process.exit()
      }
      return worker.terminate().then(() => all.push(recorded().slice()))
    }),
  )
  await Promise.all(ends)
  if (own !== undefined) all.push(BigUint64Array.from(own.take(100)))
}

const after = BigUint64Array.from((own ?? (await open())).take(1000))
const ids = all.reduce((sum, { length }) => sum + length, 0)
const isAfter = (after[0] ?? 0n) > lastOf(all)
console.log(JSON.stringify({ ids, isAfter, duplicates: duplicatesAmong([...all, after]) }))

async function open() {
  const { createGenerator, layouts } = await import('graupel')
  const wide = { layout: layouts.wide, onOverflow: /** @type {const} */ ('advance'), maxAheadMs: 600_000 }
  return createGenerator({ node: 1, namespace, ...wide })
}

/** @param {End} end @param {number} index */
function start({ isLoading, afterMs }, index) {
  const ids = new SharedArrayBuffer(maxIds * 8)
  const made = new SharedArrayBuffer(4)
  const count = new Int32Array(made)
  // Each worker begins with another way to make ids.
  const rotated = [...states.slice(index % states.length), ...states.slice(0, index % states.length)]
  const worker = new Worker(new URL('terminated-worker.js', import.meta.url), {
    workerData: { namespace, states: rotated, ids, made },
  })
  const failed = once(worker, 'error').then(([error]) => {
    throw error
  })
  // Usually a worker has no error.
  failed.catch(() => {})
  const whenToEnd = async () => {
    while (!isLoading && Atomics.load(count, 0) < 30) await Promise.race([setTimeout(1), failed])
    await Promise.race([setTimeout(afterMs), failed])
  }
  return { worker, whenToEnd, recorded: () => new BigUint64Array(ids).subarray(0, Atomics.load(count, 0)) }
}

/** @param {BigUint64Array[]} arrays */
function lastOf(arrays) {
  let last = 0n
  for (const array of arrays) for (const id of array) if (id > last) last = id
  return last
}

/** @param {BigUint64Array[]} arrays */
function duplicatesAmong(arrays) {
  const every = new BigUint64Array(arrays.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const array of arrays) {
    every.set(array, at)
    at += array.length
  }
  every.sort()
  return every.reduce((sum, id, i) => sum + (i > 0 && id === every[i - 1] ? 1 : 0), 0)
}
