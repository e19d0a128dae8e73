import { setTimeout as sleep } from 'node:timers/promises'
import { throwIfServerIsGone } from './gone-servers.ts'

/**
 * Milliseconds that a test waits for what it expects. A busy machine may need most of them. They are fewer
 * than the two minutes that a test may take, so the error says what did not happen.
 */
const patienceMs = 100_000

/** Waits until a condition holds. Checks it every few milliseconds. */
export async function until(holds: () => boolean | Promise<boolean>, maxMs = patienceMs): Promise<void> {
  const endMs = performance.now() + maxMs
  while (!(await holds())) {
    throwIfServerIsGone()
    if (performance.now() > endMs) throw new Error(`after ${maxMs} ms this still does not hold: ${holds}`)
    await sleep(5)
  }
}

/** Repeats an attempt until it succeeds, or until the patience is over; then throws the last error. */
export async function eventually<T>(attempt: () => Promise<T> | T): Promise<T> {
  const endMs = performance.now() + patienceMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      throwIfServerIsGone()
      if (performance.now() > endMs) throw error
      await sleep(50)
    }
  }
}
