// A caller: makes ids by every call that there is, and appends them at once to a file of its own. If the
// process is killed after it has made an id and before it has written it, the proof only misses that id.
import { closeSync, openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The calls that ids and numbers of segments have in common.
 *
 * @typedef {Pick<import('graupel/segments').SegmentGenerator, 'next' | 'nextAsync' | 'fill' | 'fillAsync' |
 * 'close'>} Ids
 */

/**
 * Makes ids until `isOver()`.
 *
 * @param {object} order
 * @param {Ids} order.ids - Closed at the end.
 * @param {readonly string[]} order.expected - Codes that a call may end with while faults go on. Any other
 * error ends the process, which is a failure of the test.
 * @param {string} order.file
 * @param {number} order.seed
 * @param {number} order.pauseMs
 * @param {number} [order.burst] - The most ids of one call.
 * @param {() => boolean} order.isOver
 * @returns {Promise<object>} The number of errors by code, and the last error.
 */
export async function makeIds({ ids, expected, file, seed, pauseMs, burst = 20_000, isOver }) {
  const random = randomOf(seed)
  const errors = /** @type {Record<string, number>} */ ({})
  const out = openSync(file, 'a')
  const block = new BigUint64Array(burst)
  let held = 0
  let last = ''
  let message = ''
  const caught = (/** @type {any} */ error) => {
    if (!expected.includes(error.code)) throw error
    last = error.code
    errors[last] = (errors[last] ?? 0) + 1
    message = error.message
    held += error.filled ?? 0
  }
  const ways = {
    next(/** @type {number} */ count) {
      for (; held < Math.min(count, 1000); held++) block[held] = ids.next()
    },
    fill(/** @type {number} */ count) {
      ids.fill(block.subarray(0, count))
      held = count
    },
    async nextAsync(/** @type {number} */ count) {
      const calls = Array.from({ length: Math.min(count, 100) }, () => ids.nextAsync())
      for (const call of await Promise.allSettled(calls)) {
        if (call.status === 'fulfilled') block[held++] = call.value
        else caught(call.reason)
      }
    },
    async fillAsync(/** @type {number} */ count) {
      await ids.fillAsync(block.subarray(0, count))
      held = count
    },
  }
  while (!isOver()) {
    const way = /** @type {keyof typeof ways} */ (Object.keys(ways)[Math.floor(random() * 4)])
    // Usually few ids, and sometimes a burst that runs ahead of the clock.
    const count = random() < 0.02 ? block.length : Math.ceil((burst / 2.5) ** random())
    held = 0
    last = ''
    try {
      await ways[way](count)
    } catch (error) {
      caught(error)
    }
    writeSync(out, block, 0, held * 8)
    await sleep(last === '' ? pauseMs * random() * 2 : 50)
  }
  ids.close()
  closeSync(out)
  return { ...errors, message }
}

/** Mulberry32. @param {number} seed */
function randomOf(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
