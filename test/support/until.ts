import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until a condition holds. Checks it every few milliseconds. */
export async function until(holds: () => boolean | Promise<boolean>, maxMs = 30_000): Promise<void> {
  const endMs = performance.now() + maxMs
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`after ${maxMs} ms this still does not hold: ${holds}`)
    await sleep(5)
  }
}

/**
 * Repeats an attempt until it succeeds, for as long as a test on a busy machine may take; then throws the
 * last error.
 */
export async function eventually<T>(attempt: () => Promise<T> | T): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === 600) throw error
      await sleep(50)
    }
  }
}
