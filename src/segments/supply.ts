import { maxTimerMs } from '../core/timing.js'
import { presentGeneration } from '../numbers/generation.js'
import { type BatchRule, fetchAt, Prefetcher, type PrefetcherClock, type PrefetchRule } from '../numbers/prefetcher.js'
import { makeHandle, objectOf, type SegmentHandle, type SegmentInfo } from './handle.js'
import { SegmentMemory } from './memory.js'
import type { Segment, SegmentSource } from './range.js'
import { checkShareable, type SegmentSupply, ServingThread } from './thread-channel.js'

/** The most numbers that are fetched at once, by default. */
export const usualMaxStep = 2 ** 24

/** How many numbers are fetched, and when. */
export interface Steps extends Omit<BatchRule, 'least' | 'most'>, PrefetchRule {
  /** How many at first; `undefined`: as many as the table says. */
  readonly first: number | undefined
  /** The fewest; `undefined`: as many as at first. */
  readonly least: number | undefined
  /** The most; `undefined`: {@link usualMaxStep}, or as many as at first or as `least`, if that is more. */
  readonly most: number | undefined
}

/** The options of a {@link LocalSupply}. */
export interface LocalOptions extends Omit<SegmentInfo, 'store'> {
  readonly steps: Steps
  readonly callTimeoutMs: number
  /** Called after every attempt to fetch. */
  onNews?(failure: Error | undefined): void
}

interface Fetch {
  readonly segment: Segment
  /**
   * The generation of the machine from before the call: a copy that is made during the call may have its
   * answer, too.
   */
  readonly generation: number
}

async function fetchFrom(source: SegmentSource, count: number | undefined, signal?: AbortSignal): Promise<Fetch> {
  const generation = presentGeneration()
  const { first, count: given } = await source.take(count, signal)
  return { segment: { first, count: given }, generation }
}

/** Fetches segments in this thread, for all threads of the process that have the handle. */
export class LocalSupply implements SegmentSupply {
  readonly isShared = false
  readonly memory: SegmentMemory
  readonly #source: SegmentSource
  readonly #options: LocalOptions
  readonly #prefetcher: Prefetcher<Fetch>
  /** Made when the handle is first asked for. */
  #handle: SegmentHandle | undefined
  #serving: ServingThread | undefined

  /** @param segment - The first segment. */
  private constructor(source: SegmentSource, options: LocalOptions, clock: PrefetcherClock, first: Fetch) {
    const { name, steps, stride } = options
    const step = steps.first ?? first.segment.count
    const most = steps.most ?? Math.max(usualMaxStep, step, steps.least ?? 0)
    const rule = { ...steps, least: steps.least ?? Math.min(step, most), most }
    const memory = SegmentMemory.make(stride)
    // The step of a table may lie outside the bounds of the options.
    memory.batchSize = Math.min(Math.max(step, rule.least), most)
    this.memory = memory
    this.#source = source
    this.#options = options
    this.#prefetcher = new Prefetcher({
      name: objectOf(name),
      clock,
      stock: memory,
      rule,
      fetch: (_, signal) => fetchFrom(source, memory.batchSize, signal),
      add: ({ segment, generation }, perMs) => memory.add(segment, fetchAt(segment.count, perMs, rule), generation),
      isRepeated: true,
      maxWaitMs: Number.POSITIVE_INFINITY,
      onNews: (failure) => this.#tell(failure),
    })
    this.#prefetcher.add(first, 0)
  }

  /** Fetches the first segment. @throws Error of the source; the reason of the signal. */
  static async begin(
    source: SegmentSource,
    options: LocalOptions,
    clock: PrefetcherClock,
    signal?: AbortSignal,
  ): Promise<LocalSupply> {
    // This timer keeps the process alive, because the timers of the store do not.
    const release = clock.later(() => {}, maxTimerMs)
    const first = await fetchFrom(source, options.steps.first, signal).finally(release)
    return new LocalSupply(source, options, clock, first)
  }

  get failure(): Error | undefined {
    return this.#prefetcher.failure
  }

  get isFetching(): boolean {
    return this.#prefetcher.isFetching
  }

  ask(): void {
    this.#prefetcher.ask()
  }

  /** Calls wait for as long as it takes. */
  throwIfLate(): void {}

  arrival(wanted: number, sinceMs: number): Promise<void> {
    return this.#prefetcher.arrival(wanted, sinceMs)
  }

  throwIfClosed(): void {
    this.#prefetcher.throwIfClosed()
  }

  handle(): SegmentHandle {
    checkShareable()
    if (this.#handle === undefined) {
      const { name, max, stride, callTimeoutMs } = this.#options
      const { memory } = this.memory
      const channel = `graupel segments ${crypto.randomUUID()}`
      this.#handle = makeHandle({ name, store: this.#source.name, max, stride, callTimeoutMs, channel, memory })
      this.#serving = new ServingThread(channel, this)
    }
    return this.#handle
  }

  close(): void {
    this.memory.close()
    this.#prefetcher.close()
    this.#serving?.close()
  }

  #tell(failure: Error | undefined): void {
    if (failure !== undefined) this.memory.countFailure()
    this.#options.onNews?.(failure)
    this.#serving?.tell(failure)
  }
}
