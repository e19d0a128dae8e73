import { platform } from '#platform'
import { closedError, type Referee, type Task } from './referee.js'
import type { Rise } from './rise.js'

interface Entry {
  readonly task: Task
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  /** The tick that it waits for, once it does. */
  untilTick: number
  /** Set while it waits for the ceiling. */
  rise: Rise | undefined
}

/** Milliseconds of work after which the event loop gets a turn, whatever is left to do. */
const sliceMs = 0.5

/** Milliseconds after which the clock is looked at again, however long the wait is: it may step, or be the user's. */
const mostPauseMs = 50

/** Entries that are done and still in the list, before it is worth moving the others up. */
const mostDone = 1024

/**
 * Calls that wait without blocking, first come, first served: as long as one waits, those after it wait behind it, so
 * ids come in the order of the calls.
 */
export class Queue {
  readonly #referee: Referee
  #entries: (Entry | undefined)[] = []
  /** The first that is not done. Taking each off the front would move all others each time. */
  #first = 0
  /** Takes the next turn back; set while one is due. */
  #cancel: (() => void) | undefined
  #isPumping = false

  constructor(referee: Referee) {
    this.#referee = referee
  }

  get isEmpty(): boolean {
    return this.#first === this.#entries.length
  }

  add(task: Task): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#entries.push({ task, resolve, reject, untilTick: -1, rise: undefined })
      // Not at once: a call that fills a large array must not do so before it returns.
      if (!this.#isPumping && this.#cancel === undefined) this.#later(0)
    })
  }

  /** Rejects every call that waits with `ERR_CLOSED`, and waits for nothing any more. */
  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const waiting = this.#entries.splice(0).slice(this.#first)
    this.#first = 0
    for (const entry of waiting) entry?.reject(closedError())
  }

  #later(ms: number): void {
    this.#cancel = platform.later(this.#pump, ms)
  }

  readonly #pump = (): void => {
    this.#cancel = undefined
    this.#isPumping = true
    const waitMs = this.#work()
    this.#isPumping = false
    if (waitMs !== undefined && !this.isEmpty) this.#later(waitMs)
  }

  /** Until all is done, or there is something to wait for: then for how long. */
  #work(): number | undefined {
    const startMs = platform.monotonicMs()
    while (!this.isEmpty) {
      const entry = this.#entries[this.#first] as Entry
      try {
        const outcome = this.#referee.round(entry.task, false)
        if (outcome === 'ceiling') {
          entry.rise ??= this.#referee.rise()
          if (!entry.rise.poll(false)) return 1
          continue
        }
        entry.rise = undefined
        if (typeof outcome === 'object') {
          // A clock that stands still, or fires early, is waited for again: that is one wait.
          if (entry.untilTick !== outcome.untilTick) this.#referee.countWait(outcome)
          entry.untilTick = outcome.untilTick
          return this.#pauseFor(Math.min(outcome.waitMs, mostPauseMs))
        }
        if (outcome === 'done') {
          this.#remove(entry)
          entry.resolve()
        }
      } catch (error) {
        this.#remove(entry)
        entry.reject(error)
      }
      if (platform.monotonicMs() - startMs > sliceMs) return 0
    }
    return undefined
  }

  /** Milliseconds after which it is worth looking again. */
  #pauseFor(waitMs: number): number {
    // A clock of the user's may never go on, and is not looked at without a pause.
    if (this.#referee.hasInjectedClock) return Math.max(1, waitMs)
    // The last millisecond is spent in turns of the event loop: timers are late by a fifth of one, and with them so many
    // of the ids (87 % of 4 096 in each millisecond, and 100 % so). Others on the loop wait no longer for it.
    return waitMs > 1 ? waitMs - 1 : 0
  }

  #remove(entry: Entry): void {
    // The policy, the clock or a subscriber may have closed the generator in the middle of it.
    if (this.#entries[this.#first] !== entry) return
    this.#entries[this.#first] = undefined
    this.#first++
    if (this.isEmpty || (this.#first > mostDone && this.#first * 2 > this.#entries.length)) {
      this.#entries.splice(0, this.#first)
      this.#first = 0
    }
  }
}
