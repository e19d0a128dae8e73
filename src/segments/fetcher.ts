import { closedError, type GraupelError } from '../core/errors.js'
import { type Clock, maxTimerMs } from '../core/timing.js'
import { Waiting } from '../generator/turns.js'
import type { SegmentMemory } from './memory.js'
import type { Segment, SegmentSource } from './source.js'
import { fetchAt, nextStep, type Steps } from './steps.js'
import { objectOf, type Supply } from './supply.js'

/** Milliseconds before a fetch is tried again that has failed: doubled each time, and drawn from the upper half. */
const firstPauseMs = 50
const maxPauseMs = 1000

export type FetcherClock = Omit<Clock, 'wallMs'>

export interface FetcherOptions {
  /** The name of the numbers. */
  readonly name: string
  readonly source: SegmentSource
  readonly memory: SegmentMemory
  readonly steps: Steps
  readonly clock: FetcherClock
  /** Told of every attempt that has ended. */
  onNews(failure: Error | undefined): void
}

/** Fetches a segment while the one before is used, and adapts their size. */
export class Fetcher implements Supply {
  readonly #options: FetcherOptions
  readonly #waiting = new Waiting()
  readonly #stop = new AbortController()
  #failure: Error | undefined
  #isFetching = false
  /** Ends the pause before the next attempt, while there is one. */
  #cancelPause: (() => void) | undefined
  /** Lets the process end again, while a call waits. */
  #release: (() => void) | undefined
  #steps: Steps
  /** When the last segment was added, and how many numbers were taken by then. */
  #addedMs = 0
  #takenBefore = 0

  constructor(options: FetcherOptions) {
    this.#options = options
    this.#steps = options.steps
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  get isFetching(): boolean {
    return this.#isFetching
  }

  /** Fetches the first segment. @throws Error of the source; what the signal was aborted with. */
  async begin(signal: AbortSignal | undefined): Promise<void> {
    const { source, memory } = this.#options
    const { first, least, most } = this.#steps
    const release = this.#stay()
    const segment = await source.take(first, signal).finally(release)
    const step = first ?? segment.count
    this.#steps = { ...this.#steps, least: least ?? step, most: Math.max(most, step) }
    memory.step = step
    this.#add(segment, 0)
  }

  ask(): void {
    if (this.#isFetching || this.#stop.signal.aborted || isFinal(this.#failure)) return
    if (!this.#options.memory.hasRoom) return
    this.#isFetching = true
    const perMs = this.#adapt()
    void this.#fetch(perMs, firstPauseMs)
  }

  async arrival(): Promise<void> {
    if (this.#stop.signal.aborted) throw this.#closedError()
    this.ask()
    if (!this.#isFetching && isFinal(this.#failure)) throw this.#failure
    this.#release ??= this.#stay()
    await this.#waiting.wait()
  }

  close(): void {
    this.#cancelPause?.()
    this.#stop.abort(this.#closedError())
    this.#options.memory.close()
    this.#settle(this.#closedError())
  }

  async #fetch(perMs: number, pauseMs: number): Promise<void> {
    const { source, memory, clock } = this.#options
    try {
      const segment = await source.take(memory.step, this.#stop.signal)
      if (this.#stop.signal.aborted) return
      this.#add(segment, perMs)
      this.#failure = undefined
    } catch (error) {
      if (this.#stop.signal.aborted) return
      this.#failure = error as Error
      memory.countFailure()
    }
    const failure = this.#failure
    this.#isFetching = failure !== undefined && !isFinal(failure)
    if (this.#isFetching) {
      const again = () => void this.#fetch(perMs, Math.min(pauseMs * 2, maxPauseMs))
      this.#cancelPause = clock.background(again, pauseMs * (0.5 + clock.random() / 2))
    }
    this.#settle(failure)
    this.#options.onNews(failure)
  }

  #closedError(): Error {
    return closedError(objectOf(this.#options.name))
  }

  #settle(failure: Error | undefined): void {
    this.#release?.()
    this.#release = undefined
    this.#waiting.settle(failure)
  }

  /** Keeps the process from ending, as no timer of the store and none of the pauses does. */
  #stay(): () => void {
    return this.#options.clock.later(() => {}, maxTimerMs)
  }

  /** Sets the next step by how fast numbers were used since the last segment came; how many in a millisecond. */
  #adapt(): number {
    const { memory, clock } = this.#options
    // At least a microsecond: a clock may show the same time twice.
    const elapsedMs = Math.max(0.001, clock.monotonicMs() - this.#addedMs)
    const perMs = (memory.taken - this.#takenBefore) / elapsedMs
    if (perMs > 0) memory.step = nextStep(memory.step, memory.step / perMs, this.#steps)
    return perMs
  }

  #add(segment: Segment, perMs: number): void {
    const { memory, clock } = this.#options
    memory.add(segment, fetchAt(segment.count, perMs, this.#steps))
    this.#addedMs = clock.monotonicMs()
    this.#takenBefore = memory.taken
  }
}

/** There are no more numbers, whatever the store says later. */
function isFinal(error: Error | undefined): error is Error {
  return (error as GraupelError | undefined)?.code === 'ERR_SEGMENT_OVERFLOW'
}
