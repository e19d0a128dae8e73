import { platform } from '#platform'
import type { MoreNumbers, Task } from './source.js'

interface Entry {
  readonly task: Task
  /** When the call was made. */
  readonly sinceMs: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** The part of a clock that a queue uses. */
export interface QueueClock {
  monotonicMs(): number
  later(callback: () => void, ms: number): () => void
}

/** Milliseconds of work after which the event loop gets a turn, even if work is left. */
const sliceMs = 0.5

/** Up to this many done entries stay at the front of the list, because removing them moves all others. */
const maxDone = 1024

/** Calls that wait without blocking. They are served in the order in which they were made. */
export class Queue {
  readonly #more: MoreNumbers
  readonly #isEager: boolean
  readonly #clock: QueueClock
  #entries: (Entry | undefined)[] = []
  /**
   * Index of the first entry that is not done. Removing each entry from the front would move all others each
   * time.
   */
  #first = 0
  #isPumping = false
  /** Whether it waits for a promise. */
  #isWaiting = false
  /** Set while it waits for a timer: cancels the timer. */
  #cancel: (() => void) | undefined

  /**
   * @param isEager - Begins with the first call in the turn in which it is made. Otherwise it begins in the
   * next turn of the event loop, so that a call which fills a large array returns first.
   */
  constructor(more: MoreNumbers, isEager: boolean, clock: QueueClock = platform) {
    this.#more = more
    this.#isEager = isEager
    this.#clock = clock
  }

  get isEmpty(): boolean {
    return this.#first === this.#entries.length
  }

  /** Does a task in its turn. */
  add(task: Task): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#entries.push({ task, sinceMs: this.#clock.monotonicMs(), resolve, reject })
      if (this.#isPumping || this.#isWaiting || this.#cancel !== undefined) return
      if (this.#isEager) this.#pump()
      else this.#later(0)
    })
  }

  /** Rejects every call that waits. */
  close(errorOf: () => unknown): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#rejectAll(errorOf)
  }

  #later(ms: number): void {
    this.#cancel = this.#clock.later(this.#pump, ms)
  }

  /**
   * Tries again when a promise resolves. If it rejects, all waiting calls fail: otherwise the last of a
   * hundred calls would wait for a hundred failures.
   */
  #after(news: Promise<void>): void {
    this.#isWaiting = true
    news.then(this.#pump, (failure) => {
      this.#isWaiting = false
      this.#rejectAll(() => this.#more.errorOf?.(failure) ?? failure)
    })
  }

  readonly #pump = (): void => {
    this.#cancel = undefined
    this.#isWaiting = false
    this.#isPumping = true
    const pause = this.#work()
    this.#isPumping = false
    if (pause === undefined) return
    if (this.isEmpty) {
      // The round has closed the object, and news of it rejects.
      if (typeof pause === 'object') pause.catch(() => {})
      return
    }
    if (typeof pause === 'number') this.#later(pause)
    else this.#after(pause)
  }

  /** Works until all is done. Returns what to wait for before it goes on. */
  #work(): number | Promise<void> | undefined {
    const startMs = this.#clock.monotonicMs()
    while (!this.isEmpty) {
      const entry = this.#entries[this.#first] as Entry
      try {
        const round = this.#more.round(entry.task, entry.sinceMs)
        if (round === 'done') {
          this.#remove(entry)
          entry.resolve()
        } else if (round !== 'again') {
          return round
        }
      } catch (error) {
        this.#remove(entry)
        entry.reject(error)
      }
      if (this.#clock.monotonicMs() - startMs > sliceMs) return 0
    }
    return undefined
  }

  #remove(entry: Entry): void {
    // A policy, a clock or a subscriber may have closed the generator meanwhile.
    if (this.#entries[this.#first] !== entry) return
    this.#entries[this.#first] = undefined
    this.#first++
    if (this.isEmpty || (this.#first > maxDone && this.#first * 2 > this.#entries.length)) {
      this.#entries.splice(0, this.#first)
      this.#first = 0
    }
  }

  #rejectAll(errorOf: () => unknown): void {
    const waiting = this.#entries.splice(0).slice(this.#first)
    this.#first = 0
    for (const entry of waiting) entry?.reject(errorOf())
  }
}
