import { setTimeout as sleep } from 'node:timers/promises'
import { throwIfServerIsGone } from './gone-servers.ts'

/**
 * The time limit in milliseconds of a process that a test starts, and of what a test expects. It is only for
 * what hangs: a busy machine needs minutes for what takes seconds. It is below the ten minutes that a test
 * may take (`vitest.config.ts`), so the error says what did not happen.
 */
export const hangMs = 500_000

/** Waits until a condition holds. Checks it every few milliseconds. */
export async function until(holds: () => boolean | Promise<boolean>, maxMs = hangMs): Promise<void> {
  const endMs = performance.now() + maxMs
  while (!(await holds())) {
    throwIfServerIsGone()
    if (performance.now() > endMs) throw new Error(`after ${maxMs} ms this still does not hold: ${holds}`)
    await sleep(5)
  }
}

/** Repeats an attempt until it succeeds, or until the patience is over; then throws the last error. */
export async function eventually<T>(attempt: () => Promise<T> | T): Promise<T> {
  const endMs = performance.now() + hangMs
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
