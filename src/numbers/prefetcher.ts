import { closedError, type GraupelError } from '../core/errors.js'
import { type Clock, maxTimerMs } from '../core/timing.js'
import type { Supply } from './fetched.js'

/**
 * Milliseconds before a failed fetch is tried again. They double each time; up to half is subtracted at
 * random.
 */
const firstPauseMs = 50
const maxPauseMs = 1000

/** The fetched numbers that are not handed out. */
export interface Stock {
  /** Whether another batch can be added. */
  readonly hasRoom: boolean
  /** How many numbers have been taken so far. */
  readonly taken: number
  /** How many numbers the next batch should have. */
  batchSize: number
}

/** The bounds of the batch size, and how long a batch should last. */
export interface BatchRule {
  readonly least: number
  readonly most: number
  readonly batchMs: number
}

/** The part of a clock that a prefetcher uses. */
export type PrefetcherClock = Omit<Clock, 'wallMs'>

export interface PrefetcherOptions<B> {
  /** Names the object in messages: `the id client of http://127.0.0.1:4728`. */
  readonly name: string
  readonly clock: PrefetcherClock
  readonly stock: Stock
  readonly rule: BatchRule
  /** Fetches one batch. @param wanted - How many numbers a call waits for; 0 if none waits. */
  fetch(wanted: number, signal: AbortSignal): Promise<B>
  /**
   * Adds a batch to the stock. @param perMs - Numbers that were lately used per millisecond; 0 if unknown.
   */
  add(batch: B, perMs: number): void
  /** Called with a batch that came after `close()`. */
  drop?(batch: B): void
  /**
   * Whether a failed fetch is repeated until it succeeds. Otherwise the next call that asks for numbers
   * repeats it.
   */
  readonly isRepeated: boolean
  /** How long a call waits. */
  readonly maxWaitMs: number
  /** Makes the error of a call that has waited for so long. Only `throwIfLate` needs it. */
  late?(): Error
  /** Called after every attempt. */
  onNews?(failure: Error | undefined): void
}

/** Fetches one batch at a time, while the batch before is used, and adapts the batch size. */
export class Prefetcher<B> implements Supply {
  readonly #options: PrefetcherOptions<B>
  readonly #news = new News()
  readonly #stop = new AbortController()
  #failure: Error | undefined
  #isFetching = false
  /** Ends the pause before the next attempt. */
  #cancelPause: (() => void) | undefined
  /** The time at which the last batch was added, and how many numbers had been taken by then. */
  #addedMs = 0
  #takenBefore = 0

  constructor(options: PrefetcherOptions<B>) {
    this.#options = options
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  get isFetching(): boolean {
    return this.#isFetching
  }

  throwIfClosed(): void {
    if (this.#stop.signal.aborted) throw closedError(this.#options.name)
  }

  ask(wanted = 0): void {
    if (this.#isFetching || this.#stop.signal.aborted || isFinal(this.#failure)) return
    if (!this.#options.stock.hasRoom) return
    this.#isFetching = true
    void this.#fetch(wanted, this.#adapt(), firstPauseMs)
  }

  async arrival(wanted: number, sinceMs: number): Promise<void> {
    this.throwIfClosed()
    this.ask(wanted)
    if (!this.#isFetching && isFinal(this.#failure)) throw this.#failure
    await new Promise<void>((resolve, reject) => {
      // Only this timer keeps the process alive.
      const cancel = this.#options.clock.later(resolve, Math.min(this.#leftMs(sinceMs), maxTimerMs))
      this.#news.wait().then(resolve, reject).finally(cancel)
    })
  }

  throwIfLate(sinceMs: number): void {
    if (this.#leftMs(sinceMs) <= 0) throw (this.#options.late as () => Error)()
  }

  /** How long a call may still wait, in milliseconds. The wait begins anew with each batch that comes. */
  #leftMs(sinceMs: number): number {
    return Math.max(sinceMs, this.#addedMs) + this.#options.maxWaitMs - this.#options.clock.monotonicMs()
  }

  /** Adds a batch that was fetched. */
  add(batch: B, perMs: number): void {
    const { stock, clock, add } = this.#options
    add(batch, perMs)
    this.#addedMs = clock.monotonicMs()
    this.#takenBefore = stock.taken
  }

  close(): void {
    const { name } = this.#options
    this.#cancelPause?.()
    this.#stop.abort(closedError(name))
    this.#news.settle(closedError(name))
  }

  async #fetch(wanted: number, perMs: number, pauseMs: number): Promise<void> {
    const { fetch, drop, clock, isRepeated, onNews } = this.#options
    const { signal } = this.#stop
    let failure: Error | undefined
    try {
      const batch = await fetch(wanted, signal)
      if (signal.aborted) return drop?.(batch)
      this.add(batch, perMs)
    } catch (error) {
      if (signal.aborted) return
      failure = error as Error
    }
    this.#failure = failure
    this.#isFetching = failure !== undefined && isRepeated && !isFinal(failure)
    if (this.#isFetching) {
      const again = () => void this.#fetch(wanted, perMs, Math.min(pauseMs * 2, maxPauseMs))
      this.#cancelPause = clock.background(again, pauseMs * (0.5 + clock.random() / 2))
    }
    this.#news.settle(failure)
    onNews?.(failure)
  }

  /**
   * Sets the next batch size by how fast numbers were used since the last batch came. Returns the numbers
   * used per millisecond.
   */
  #adapt(): number {
    const { stock, clock, rule } = this.#options
    // At least a microsecond: a clock may show the same time twice.
    const elapsedMs = Math.max(0.001, clock.monotonicMs() - this.#addedMs)
    const perMs = (stock.taken - this.#takenBefore) / elapsedMs
    if (perMs > 0) stock.batchSize = nextBatchSize(stock.batchSize, stock.batchSize / perMs, rule)
    return perMs
  }
}

/** Calls that wait for the end of an attempt. */
export class News {
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = []

  wait(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  settle(failure: Error | undefined): void {
    for (const { resolve, reject } of this.#waiting.splice(0)) failure === undefined ? resolve() : reject(failure)
  }
}

/** Returns whether there will be no more numbers, even if the source answers again. */
function isFinal(error: Error | undefined): error is Error {
  return (error as GraupelError | undefined)?.code === 'ERR_SEGMENT_OVERFLOW'
}

/**
 * Computes the next batch size by Leaf's rule: doubled if a batch lasts less than `batchMs`, halved if it
 * lasts twice as long.
 *
 * @param size - The present batch size.
 * @param lastedMs - How long a batch of this size lasts.
 */
export function nextBatchSize(size: number, lastedMs: number, { least, most, batchMs }: BatchRule): number {
  if (lastedMs < batchMs) return Math.min(size * 2, most)
  if (lastedMs >= 2 * batchMs) return Math.max(Math.floor(size / 2), least)
  return size
}

/** When the next batch is fetched. */
export interface PrefetchRule {
  /** The part of a batch that is used before the next batch is requested. */
  readonly prefetchAt: number
  /** The next batch is requested before the rest of the present batch lasts less than this time. */
  readonly leadMs: number
}

/**
 * Computes how many numbers of a batch are used before the next batch is requested.
 *
 * @param count - How many numbers the batch has.
 * @param perMs - Numbers used per millisecond; 0 if unknown.
 */
export function fetchAt(count: number, perMs: number, { prefetchAt, leadMs }: PrefetchRule): number {
  return Math.floor(Math.max(0, Math.min(count * prefetchAt, count - perMs * leadMs)))
}
