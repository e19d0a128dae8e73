// Does what its parent tells it, one order at a time, so that a test can look between the steps of a process's life.
import { execFileSync } from 'node:child_process'
import { generatorOf } from './order.js'

/** @type {import('graupel').IdGenerator | undefined} */
let ids
const still = new Int32Array(new SharedArrayBuffer(4))

const orders = {
  /** @param {import('./order.js').Plan} plan */
  open(plan) {
    ids = generatorOf(plan)
  },
  /**
   * Makes ids for so long, or until it cannot.
   *
   * @param {{ forMs: number, everyMs: number }} pace
   */
  issue({ forMs, everyMs }) {
    const made = []
    const startMs = performance.now()
    let error
    let slowestMs = 0
    do {
      const beforeMs = performance.now()
      try {
        made.push(generator().next())
      } catch (thrown) {
        error = plain(thrown)
      }
      slowestMs = Math.max(slowestMs, performance.now() - beforeMs)
      if (everyMs > 0) Atomics.wait(still, 0, 0, everyMs)
    } while (error === undefined && performance.now() - startMs < forMs)
    return { ids: BigUint64Array.from(made), ceilingMs: generator().stats().ceilingMs, slowestMs, error }
  },
  /** @param {number} count */
  take: (count) => generator().take(count),
  stats: () => generator().stats(),
  /** @param {number} user - For good. */
  becomeUser: (user) => process.setuid?.(user),
  /** @param {number} user - Until it is called again. */
  actAs: (user) => process.seteuid?.(user),
  close: () => generator().close(),
  exit: () => void setImmediate(() => process.exit()),
  /** @param {string} script - Runs in the same mount namespace. */
  shell: (script) => execFileSync('sh', ['-ec', script], { encoding: 'utf8' }),
}

function generator() {
  if (ids === undefined) throw new Error('open it first')
  return ids
}

/** @param {unknown} error */
function plain(error) {
  const { code, message, cause, filled, rollbackMs, retryAfterMs } = /** @type {Record<string, any>} */ (error)
  return { code, message, causeCode: cause?.code, filled, rollbackMs, retryAfterMs }
}

process.on('message', (/** @type {{ call: keyof typeof orders, argument: any }} */ { call, argument }) => {
  try {
    process.send?.({ result: orders[call](/** @type {never} */ (argument)) })
  } catch (error) {
    process.send?.({ error: plain(error) })
  }
})
// Orphans end.
process.on('disconnect', () => process.exit())
