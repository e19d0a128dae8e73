// One caller: makes ids by every call there is, and appends them to a file of its own as soon as it has them. An id that is made
// and not written, because the process is killed between the two, is a witness less and no more.
import { closeSync, openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGenerator } from 'graupel'

/**
 * @typedef {object} Policy
 * @property {'native' | 'js' | 'auto'} engine
 * @property {'throw' | 'wait' | 'advance' | 'reuse' | 'function'} onRollback
 * @property {'throw' | 'wait' | 'advance'} onOverflow
 * @property {number} maxAheadMs
 * @property {number} maxWaitMs
 * @property {'zero' | 'random' | 'rotate'} sequenceStart
 * @property {'wall' | 'steady'} clock
 */

/** What a call may end with while faults go on. Anything else ends the process, which is a failure of the test. */
const expected = ['ERR_LEASE_EXPIRED', 'ERR_CLOCK_ROLLBACK', 'ERR_SEQUENCE_OVERFLOW', 'ERR_NODES_EXHAUSTED']

/**
 * Makes ids until `isOver()`.
 *
 * @param {{ lease: any, policy: Policy, file: string, seed: number, pauseMs: number, isOver: () => boolean }} order
 * @returns {Promise<object>} How often each error came, and the last one.
 */
export async function makeIds({ lease, policy, file, seed, pauseMs, isOver }) {
  const random = randomOf(seed)
  const errors = /** @type {Record<string, number>} */ ({})
  const out = openSync(file, 'a')
  const block = new BigUint64Array(20_000)
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
  const { onRollback, ...rest } = policy
  /** @type {import('graupel').IdGenerator} */
  let ids
  try {
    ids = createGenerator({ lease, ...rest, onRollback: onRollback === 'function' ? small : onRollback })
  } catch (error) {
    // Released before it could begin.
    caught(error)
    return { ...errors, message }
  }
  while (!isOver()) {
    const way = /** @type {keyof typeof ways} */ (Object.keys(ways)[Math.floor(random() * 4)])
    // Few at most times, and now and then a burst that runs ahead of the clock.
    const count = random() < 0.02 ? block.length : Math.ceil(8192 ** random())
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

const small = (/** @type {{ rollbackMs: number }} */ { rollbackMs }) => (rollbackMs <= 1000 ? 'advance' : 'wait')

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
