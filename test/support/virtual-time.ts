import type { Clock } from '../../src/core/timing.js'

interface Timer {
  readonly atMs: number
  /** Orders the timers of one moment: the timer that was set first fires first. */
  readonly order: number
  /** `undefined` after the timer is cancelled. */
  callback: (() => void) | undefined
}

/** Taken before a test can replace it. */
const afterPromises = setImmediate

/**
 * Lets all promises settle that can. Node keeps this function for old packages (DEP0134). `nextTick` and a
 * promise for each timer would take a fifth of the time of a world.
 */
const settlePromises = (process as unknown as { _tickCallback(): void })._tickCallback

/** Time that moves only while everything waits: from one timer to the next. */
export class VirtualTime implements Clock {
  #nowMs = 0
  #count = 0
  readonly #timers: Timer[] = []

  monotonicMs(): number {
    return this.#nowMs
  }

  /** The same time, since 1970. */
  wallMs(): number {
    return this.#nowMs
  }

  random(): number {
    return 0.5
  }

  background(callback: () => void, ms: number): () => void {
    return this.later(callback, ms)
  }

  later(callback: () => void, ms: number): () => void {
    const timer: Timer = { atMs: this.#nowMs + ms, order: this.#count++, callback }
    this.#push(timer)
    return () => {
      timer.callback = undefined
    }
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.later(resolve, ms))
  }

  /** Lets time pass until a promise has settled. Resolves or rejects as the promise does. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const done = () => {
      isSettled = true
    }
    promise.then(done, done)
    // Promises settle between two callbacks of the event loop, so everything that is left then waits for a
    // timer.
    await new Promise<void>((resolve, reject) => {
      afterPromises(() => {
        try {
          for (; !isSettled; settlePromises()) this.#step()
          resolve()
        } catch (error) {
          reject(error)
        }
      })
    })
    return promise
  }

  #step(): void {
    for (;;) {
      const first = this.#pop()
      if (first === undefined) throw new Error('everything waits, but no timer is set')
      if (first.callback === undefined) continue
      this.#nowMs = Math.max(this.#nowMs, first.atMs)
      first.callback()
      return
    }
  }

  // The timers are a binary heap with the earliest timer at 0.

  #push(timer: Timer): void {
    const timers = this.#timers
    let at = timers.length
    while (at > 0) {
      const above = (at - 1) >> 1
      const other = timers[above] as Timer
      if (!isBefore(timer, other)) break
      timers[at] = other
      at = above
    }
    timers[at] = timer
  }

  #pop(): Timer | undefined {
    const timers = this.#timers
    const first = timers[0]
    const last = timers.pop()
    if (first === undefined || last === undefined || first === last) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= timers.length) break
      if (below + 1 < timers.length && isBefore(timers[below + 1] as Timer, timers[below] as Timer)) below++
      if (!isBefore(timers[below] as Timer, last)) break
      timers[at] = timers[below] as Timer
      at = below
    }
    timers[at] = last
    return first
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
}
