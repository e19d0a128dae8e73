import type { IdArray } from '../engine/engine.js'
import { checkIdArray, lengthOf } from './array.js'

/** Waits for what a call needs. @throws the failure of the wait, and that of another wait which failed after the call was made */
export type Wait = (arrival: () => Promise<void>) => Promise<void>

/** Calls that wait for one supply, run one after the other in the order in which they were made. */
export class Turns {
  /** The last of the calls; each begins after the one before. */
  #last: Promise<unknown> | undefined
  /** How many waits have failed, and why the last one has. */
  #failed: { readonly waits: number; readonly error?: unknown } = { waits: 0 }

  /** Whether no call waits. */
  get isEmpty(): boolean {
    return this.#last === undefined
  }

  /**
   * Runs a call after those that were made before it.
   *
   * A failed wait is told to all calls that were made before it: otherwise the last of a hundred would wait for a hundred attempts.
   */
  async take<T>(call: (wait: Wait) => Promise<T>): Promise<T> {
    const before = this.#last
    const since = this.#failed.waits
    const own = (async () => {
      await before?.catch(() => {})
      return call((arrival) => this.#wait(arrival, since))
    })()
    this.#last = own
    try {
      return await own
    } finally {
      if (this.#last === own) this.#last = undefined
    }
  }

  async #wait(arrival: () => Promise<void>, since: number): Promise<void> {
    if (this.#failed.waits > since) throw this.#failed.error
    try {
      await arrival()
    } catch (error) {
      this.#failed = { waits: this.#failed.waits + 1, error }
      throw error
    }
  }
}

/**
 * Fills an array in a turn. An error has `filled`: how many elements at the front hold ids.
 *
 * @param takeTurn - Runs the call in its turn.
 * @param supply - Sees to it that there are ids, of which so many are missing; `undefined` where there are some.
 * @param write - Writes what there is from a place of the array on; how many.
 */
export async function fillInTurn<A extends IdArray, W>(
  array: A,
  takeTurn: (call: (wait: W) => Promise<void>) => Promise<void>,
  supply: (missing: number, wait: W) => Promise<void> | undefined,
  write: (at: number) => number,
): Promise<A> {
  let at = 0
  const fill = async (wait: W) => {
    // Again, here and below, because it may have been transferred during the wait.
    checkIdArray(array)
    while (at < lengthOf(array)) {
      const waiting = supply(lengthOf(array) - at, wait)
      if (waiting !== undefined) await waiting
      checkIdArray(array)
      at += write(at)
    }
  }
  await takeTurn(fill).catch((error) => {
    throw Object.assign(error as Error, { filled: at })
  })
  return array
}

/** Calls that wait for the next news. */
export class Waiting {
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = []

  wait(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  settle(error?: Error): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const { resolve, reject } of waiting) error === undefined ? resolve() : reject(error)
  }
}
