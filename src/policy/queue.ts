import { platform } from '#platform'
import type { CeilingWait } from './ceiling-wait.js'
import type { PolicyRunner, Task } from './runner.js'

interface Entry {
  readonly task: Task
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  /** The tick that it waits for; -1 before it waits. */
  untilTick: number
  /** Set while it waits for the ceiling. */
  ceilingWait: CeilingWait | undefined
}

/** Milliseconds of work after which the event loop gets a turn, also where work is left. */
const sliceMs = 0.5

/** Milliseconds after which the clock is read again, however long the wait is: it may step, or be a function. */
const maxPauseMs = 50

/** Entries that are done and still in the list, before the others are moved up. */
const maxDone = 1024

/**
 * Calls that wait without blocking, first come, first served. As long as one waits, those after it wait behind it, so calls
 * get their ids in the order in which they were made.
 */
export class Queue {
  readonly #runner: PolicyRunner
  #entries: (Entry | undefined)[] = []
  /** Index of the first that is not done. Removing each from the front would move all others each time. */
  #first = 0
  /** Cancels the next turn; set while one is due. */
  #cancel: (() => void) | undefined
  #isPumping = false

  constructor(runner: PolicyRunner) {
    this.#runner = runner
  }

  get isEmpty(): boolean {
    return this.#first === this.#entries.length
  }

  add(task: Task): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#entries.push({ task, resolve, reject, untilTick: -1, ceilingWait: undefined })
      // In a later turn: a call that fills a large array must return before it is filled.
      if (!this.#isPumping && this.#cancel === undefined) this.#later(0)
    })
  }

  /** Rejects every call that waits, and cancels the next turn. */
  close(error: Error): void {
    this.#cancel?.()
    this.#cancel = undefined
    const waiting = this.#entries.splice(0).slice(this.#first)
    this.#first = 0
    for (const entry of waiting) entry?.reject(error)
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

  /**
   * Works until all is done, or there is something to wait for.
   *
   * @returns Milliseconds after which to go on; `undefined` where all is done.
   */
  #work(): number | undefined {
    const startMs = platform.monotonicMs()
    while (!this.isEmpty) {
      const entry = this.#entries[this.#first] as Entry
      try {
        const outcome = this.#runner.round(entry.task, false)
        if (outcome === 'ceiling') {
          entry.ceilingWait ??= this.#runner.ceilingWait()
          if (!entry.ceilingWait.poll(false)) return 1
          continue
        }
        entry.ceilingWait = undefined
        if (typeof outcome === 'object') {
          // A clock that stands still, or a timer that fires early, is waited for again: that is one wait.
          if (entry.untilTick !== outcome.untilTick) this.#runner.countWait(outcome)
          entry.untilTick = outcome.untilTick
          return this.#pauseFor(Math.min(outcome.waitMs, maxPauseMs))
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

  /** Milliseconds after which to read the clock again. */
  #pauseFor(waitMs: number): number {
    // A clock function may never go on, and is not called without a pause.
    if (this.#runner.hasInjectedClock) return Math.max(1, waitMs)
    // The last millisecond is spent in turns of the event loop, because timers are late by a fifth of a millisecond: with
    // them a generator makes 87 % of 4 096 ids in each millisecond, and with turns 100 %. Other work on the loop is not delayed.
    return waitMs > 1 ? waitMs - 1 : 0
  }

  #remove(entry: Entry): void {
    // The policy, the clock or a subscriber may have closed the generator meanwhile.
    if (this.#entries[this.#first] !== entry) return
    this.#entries[this.#first] = undefined
    this.#first++
    if (this.isEmpty || (this.#first > maxDone && this.#first * 2 > this.#entries.length)) {
      this.#entries.splice(0, this.#first)
      this.#first = 0
    }
  }
}
