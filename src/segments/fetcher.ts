import type { GraupelError } from '../errors.js'
import { closedError } from '../policy/refusal.js'
import type { Timing } from '../stores/deadline.js'
import type { SegmentMemory } from './memory.js'
import type { Segment, SegmentSource } from './source.js'
import { fetchAt, nextStep, type Steps } from './steps.js'
import { type Supply, Waiting } from './supply.js'

/** Milliseconds before a fetch is tried again that has failed: doubled each time, and drawn from the upper half. */
const firstPauseMs = 50
const maxPauseMs = 1000

export interface FetcherOptions {
  readonly source: SegmentSource
  readonly memory: SegmentMemory
  readonly steps: Steps
  readonly timing: Timing
  /** As `later` of the timing, but the process may end meanwhile. */
  readonly background: Timing['later']
  /** From 0 to below 1. */
  random(): number
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
  /** The pause before the next attempt, while there is one. */
  #pause: { readonly untilMs: number; cancel(): void; end(): void } | undefined
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

  /** Whether a call waits for what is fetched. */
  get isAwaited(): boolean {
    return !this.#waiting.isEmpty
  }

  /** Fetches the first segment. @throws Error of the source; what the signal was aborted with. */
  async begin(signal: AbortSignal | undefined): Promise<void> {
    const { source, memory } = this.#options
    const { first, least, most } = this.#steps
    const segment = await source.take(first, signal)
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
    if (this.#stop.signal.aborted) throw closedError()
    this.ask()
    if (!this.#isFetching && isFinal(this.#failure)) throw this.#failure
    const news = this.#waiting.wait()
    // Again, now that there is a call that waits for its end.
    if (this.#pause !== undefined) this.#wait(this.#pause.untilMs, this.#pause.end)
    await news
  }

  close(): void {
    this.#pause?.cancel()
    this.#stop.abort(closedError())
    this.#options.memory.close()
    this.#waiting.settle(closedError())
  }

  async #fetch(perMs: number, pauseMs: number): Promise<void> {
    const { source, memory, timing, random } = this.#options
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
      const untilMs = timing.monotonicMs() + pauseMs * (0.5 + random() / 2)
      this.#wait(untilMs, () => void this.#fetch(perMs, Math.min(pauseMs * 2, maxPauseMs)))
    }
    this.#waiting.settle(failure)
    this.#options.onNews(failure)
  }

  /** Waits; the process may end meanwhile, unless a call waits, too. */
  #wait(untilMs: number, end: () => void): void {
    const { timing, background } = this.#options
    this.#pause?.cancel()
    const later = this.#waiting.isEmpty ? background : timing.later
    const cancel = later(
      () => {
        this.#pause = undefined
        end()
      },
      Math.max(0, untilMs - timing.monotonicMs()),
    )
    this.#pause = { untilMs, cancel, end }
  }

  /** Sets the next step by how fast numbers were used since the last segment came; how many in a millisecond. */
  #adapt(): number {
    const { memory, timing } = this.#options
    // At least a microsecond: a clock may show the same time twice.
    const elapsedMs = Math.max(0.001, timing.monotonicMs() - this.#addedMs)
    const perMs = (memory.taken - this.#takenBefore) / elapsedMs
    if (perMs > 0) memory.step = nextStep(memory.step, memory.step / perMs, this.#steps)
    return perMs
  }

  #add(segment: Segment, perMs: number): void {
    const { memory, timing } = this.#options
    memory.add(segment, fetchAt(segment.count, perMs, this.#steps))
    this.#addedMs = timing.monotonicMs()
    this.#takenBefore = memory.taken
  }
}

/** There are no more numbers, whatever the store says later. */
function isFinal(error: Error | undefined): error is Error {
  return (error as GraupelError | undefined)?.code === 'ERR_SEGMENT_OVERFLOW'
}
