import { setTimeout as sleep } from 'node:timers/promises'

/** Tries until it succeeds, for at most as long as a test may take on a busy machine; throws what it threw last. */
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
