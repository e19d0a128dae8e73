import type { Clock } from '../../src/core/timing.js'

interface Timer {
  readonly atMs: number
  /** Of two timers for the same moment, the one that was set first is the first. */
  readonly order: number
  /** `undefined` once it is taken back. */
  callback: (() => void) | undefined
}

/** Time that goes on only where everything waits for it: from one timer to the next. */
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

  /** Lets time pass until a promise has settled; its outcome. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const done = () => {
      isSettled = true
    }
    promise.then(done, done)
    while (true) {
      // Node runs what is asked for by nextTick once no promise is left that can go on: here, all of them wait for a timer.
      await new Promise<void>((resolve) => process.nextTick(resolve))
      if (isSettled) return promise
      this.#step()
    }
  }

  #step(): void {
    for (;;) {
      const first = this.#pop()
      if (first === undefined) throw new Error('everything waits, and for no timer')
      if (first.callback === undefined) continue
      this.#nowMs = Math.max(this.#nowMs, first.atMs)
      first.callback()
      return
    }
  }

  // A binary heap, the earliest timer at 0.

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
