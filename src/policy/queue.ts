import { platform } from '#platform'
import type { GraupelError } from '../errors.js'
import { closedError, type Referee, type Task } from './referee.js'

interface Entry {
  readonly task: Task
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Milliseconds of work after which the event loop gets a turn, whatever is left to do. */
const sliceMs = 0.5

/**
 * Calls that wait without blocking, first come, first served: as long as one waits, those after it wait behind it, so
 * ids come in the order of the calls.
 */
export class Queue {
  readonly #referee: Referee
  #entries: Entry[] = []
  /** How many of the entries are done; cheaper than taking each off the front. */
  #done = 0
  #isPumping = false

  constructor(referee: Referee) {
    this.#referee = referee
  }

  get isEmpty(): boolean {
    return this.#done === this.#entries.length
  }

  add(task: Task): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#entries.push({ task, resolve, reject })
      if (!this.#isPumping) {
        this.#isPumping = true
        // Not at once: a call that fills a large array must not do so before it returns.
        platform.later(this.#pump, 0)
      }
    })
  }

  /** Rejects every call that waits with `ERR_CLOSED`. */
  close(): void {
    const waiting = this.#entries.splice(0).slice(this.#done)
    this.#done = 0
    for (const { reject } of waiting) reject(closedError())
  }

  readonly #pump = (): void => {
    const startMs = platform.monotonicMs()
    while (!this.isEmpty) {
      const { task, resolve, reject } = this.#entries[this.#done] as Entry
      try {
        const outcome = this.#referee.round(task)
        if (typeof outcome === 'object') {
          this.#referee.countWait(outcome)
          platform.later(this.#pump, Math.max(1, outcome.waitMs))
          return
        }
        if (outcome === 'done') {
          this.#done++
          resolve()
        }
      } catch (error) {
        this.#done++
        reject(error as GraupelError)
      }
      if (platform.monotonicMs() - startMs > sliceMs) {
        platform.later(this.#pump, 0)
        return
      }
    }
    this.#entries = []
    this.#done = 0
    this.#isPumping = false
  }
}
