import { GraupelError } from '../core/errors.js'
import type { MoreNumbers, Round, Task } from './source.js'

/** The source of fetched numbers: a {@link Prefetcher}, or another thread that has one. */
export interface Supply {
  /**
   * Requests the next batch, unless a request is under way or there is no room. @param wanted - How many
   * numbers a call waits for.
   */
  ask(wanted?: number): void
  /**
   * Settles when numbers were added, when the call has waited for too long, or with the failure of an attempt
   * to fetch some. Keeps the process alive.
   *
   * @param sinceMs - When the call was made, on the monotonic clock.
   * @throws Error of the source; GraupelError `ERR_CLOSED`
   */
  arrival(wanted: number, sinceMs: number): Promise<void>
  /** @throws Error if a call has waited for too long. */
  throwIfLate(sinceMs: number): void
  /** Why the last attempt has failed; `undefined` after an attempt that has succeeded. */
  readonly failure: Error | undefined
  /** @throws GraupelError `ERR_CLOSED` */
  throwIfClosed(): void
  close(): void
}

/** Fetched numbers, of which some are made ready. */
export interface Fetched {
  /**
   * Makes numbers ready if none are. Returns whether any are ready, and whether it is time to request the
   * next batch.
   */
  refill(): 'none' | 'some' | 'late'
}

/** Makes fetched numbers ready, and waits for the supply if none is left. */
export class FetchedNumbers implements MoreNumbers {
  readonly #fetched: Fetched
  readonly #supply: Supply
  readonly #emptyError: (failure: Error | undefined) => unknown

  /** @param emptyError - Makes the error of a call that gets no number, from the failure of the supply. */
  constructor(fetched: Fetched, supply: Supply, emptyError: (failure: Error | undefined) => unknown) {
    this.#fetched = fetched
    this.#supply = supply
    this.#emptyError = emptyError
  }

  finish(task: Task): void {
    do {
      if (!this.#refill(task)) throw this.#emptyError(this.#supply.failure)
    } while (task.proceed() !== 'done')
  }

  round(task: Task, sinceMs: number): Round {
    if (task.proceed() === 'done') return 'done'
    if (this.#refill(task)) return 'again'
    this.#supply.throwIfLate(sinceMs)
    return this.#supply.arrival(task.missing, sinceMs)
  }

  errorOf(failure: unknown): unknown {
    const { code, message } = Object(failure) as GraupelError
    return code === 'ERR_CLOSED' ? new GraupelError(code, message) : this.#emptyError(failure as Error)
  }

  #refill(task: Task): boolean {
    this.#supply.throwIfClosed()
    const found = this.#fetched.refill()
    if (found !== 'some') this.#supply.ask(found === 'none' ? task.missing : 0)
    return found !== 'none'
  }
}
