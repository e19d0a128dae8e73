import type { Clock } from '../core/timing.js'
import { high, low } from '../core/typed-array.js'
import { timestampMsOf } from '../layout/index.js'
import { copyIds, isSigned, signError } from '../numbers/array.js'
import type { Fetched } from '../numbers/fetched.js'
import { generationReader } from '../numbers/generation.js'
import { fetchAt, type Stock } from '../numbers/prefetcher.js'
import type { ReadyNumbers } from '../numbers/source.js'
import type { IdArray } from '../state/engine.js'
import type { ResolvedOptions } from './options.js'
import { Batch, Runs } from './runs.js'

/** The most ids that are made ready between two looks at the clock. */
const maxSlice = 1024
/** The most ids of runs that are written out at once. */
const maxWindow = 4096
/** A slice should last no longer than this. */
const sliceMs = 1
/** The rest of a batch has to last for this many requests. */
const leadRequests = 2

/**
 * The batch in use and the batch after it.
 *
 * The ids from `#at` to `#end` are ready: they are handed out without a look at the clock, which costs
 * more than the id. At most {@link maxSlice} ids are ready, and only one if ids are used slowly. So ids that
 * became too old in a sleep are dropped.
 */
export class Batches implements ReadyNumbers, Fetched, Stock {
  batchSize: number
  readonly #options: Pick<ResolvedOptions, 'prefetchAt' | 'maxAgeMs' | 'layout'>
  readonly #clock: Clock
  readonly #ask: () => void
  readonly #empty = new Batch(new Runs(new Uint8Array(0)), 0, 0, 0, 0)
  /**
   * The window: ids that were written out. Composing each id when it is asked for takes six times as long as
   * reading it here.
   */
  readonly #ids = new BigUint64Array(maxWindow)
  /** The same memory in halves of 32 bits. */
  readonly #halves = new Uint32Array(this.#ids.buffer)
  readonly generation = generationReader()
  #at = 0
  #end = 0
  #windowEnd = 0
  #current = this.#empty
  #next: Batch | undefined
  #fetchAt = 0
  /** How many ids are made ready next, and the time of the last look at the clock. */
  #slice = 1
  #lookedMs = 0
  /** Ids that were used in a millisecond lately. */
  #perMs = 0
  /** How long a request takes: the last request, or half of an earlier request that took longer. */
  #tookMs = 0
  /** Ids of former batches that were handed out. */
  #takenBefore = 0
  /** How many ids were thrown away. */
  dropped = 0
  /** How many batches have come. */
  added = 0
  /** The largest id that was observed; -1n before. Smaller ids are not handed out. */
  observed = -1n
  /** The largest observed id above which the service has given ids; -1n before. */
  #accepted = -1n
  /** The observed id that the service has refused last; -1n before. */
  #refused = -1n
  /** The time of the service at the last request, less the time of each clock (see {@link Batch.age}). */
  #serviceMs = 0
  #serviceWallMs = 0
  #cancelExpiry: (() => void) | undefined

  /** @param ask - Requests the next batch. */
  constructor(
    options: Pick<ResolvedOptions, 'count' | 'prefetchAt' | 'maxAgeMs' | 'layout'>,
    clock: Clock,
    ask: () => void,
  ) {
    this.batchSize = options.count
    this.#options = options
    this.#clock = clock
    this.#ask = ask
  }

  takeOne(): number {
    if (this.#at === this.#end) return 1
    this.#at++
    // Read after the id is taken (`native/core/generation.h`).
    if (this.generation() === this.#current.generation) return 0
    // The next `refill()` drops the batch.
    this.#end = --this.#at
    return 1
  }

  get id(): bigint {
    return this.#ids[this.#at - 1] as bigint
  }

  get idHigh(): number {
    return this.#halves[2 * this.#at - 2 + high] as number
  }

  get idLow(): number {
    return this.#halves[2 * this.#at - 2 + low] as number
  }

  putBack(): void {
    this.#at--
  }

  /** Takes all that the batch has, after one look at the clock. */
  fill(array: IdArray, from: number, to: number): number {
    this.#dropOld()
    const count = Math.min(this.#current.count - this.#used, to - from)
    const { runs } = this.#current
    if (isSigned(array, this.#options.layout?.bits ?? 64) && runs.hasNegative(this.#used + count)) throw signError()
    const kept = Math.min(count, this.#windowEnd - this.#at)
    if (kept > 0) copyIds(array, this.#ids.subarray(this.#at, this.#at + kept), from)
    this.#at += kept
    this.#end = this.#at
    runs.write(array, from + kept, from + count)
    if (this.generation() !== this.#current.generation) {
      this.#takenBefore -= count
      this.dropped += count
      this.#dropOld()
      return 0
    }
    if (this.#isLate) this.#ask()
    return count
  }

  /** How many ids were handed out. */
  get taken(): number {
    return this.#takenBefore + this.#used
  }

  get left(): number {
    return this.#current.count - this.#used + (this.#next?.left ?? 0)
  }

  get hasRoom(): boolean {
    return this.#next === undefined
  }

  add(batch: Batch, perMs: number): void {
    this.added++
    this.#perMs = perMs
    this.#tookMs = Math.max(this.#clock.monotonicMs() - batch.askedMs, this.#tookMs / 2)
    // An id may have been observed since the batch was requested.
    this.dropped += batch.skip(this.observed)
    this.#setService(batch)
    if (batch.left === 0) return
    if (this.#used === this.#current.count) this.#begin(batch)
    else this.#next = batch
    if (this.#cancelExpiry === undefined) this.#expireLater()
  }

  refill(): 'none' | 'some' | 'late' {
    if (this.#at < this.#end) return 'some'
    const nowMs = this.#clock.monotonicMs()
    this.#dropOld(nowMs)
    if (this.#used === this.#current.count) {
      if (this.#next === undefined) return 'none'
      this.#begin(this.#next)
      this.#next = undefined
    }
    this.#slice = nowMs - this.#lookedMs < sliceMs ? Math.min(2 * this.#slice, maxSlice) : 1
    this.#lookedMs = nowMs
    // A slice ends at the id at which the next batch is requested.
    const end = this.#used < this.#fetchAt ? this.#fetchAt : this.#current.count
    const ready = Math.min(this.#slice, end - this.#used)
    if (this.#at === this.#windowEnd) {
      const { runs, count } = this.#current
      this.#at = 0
      this.#windowEnd = Math.min(maxWindow, count - runs.written)
      runs.write(this.#ids, 0, this.#windowEnd)
    }
    this.#end = Math.min(this.#at + ready, this.#windowEnd)
    return this.#isLate ? 'late' : 'some'
  }

  /** Throws away the ids that are left. */
  clear(): void {
    this.#cancelExpiry?.()
    this.#cancelExpiry = undefined
    this.dropped += this.left
    this.#next = undefined
    this.#begin(this.#empty)
  }

  /** Counts a batch that came too late. */
  drop(batch: Batch): void {
    this.dropped += batch.left
  }

  /**
   * The latest time that the clock of the service may show, in milliseconds since 1970. The host's own clock
   * may be wrong by hours, in browsers above all.
   */
  get serviceMs(): number {
    return Math.max(this.#clock.monotonicMs() + this.#serviceMs, this.#clock.wallMs() + this.#serviceWallMs)
  }

  /** The service has given ids above an observed id. */
  accept(id: bigint): void {
    if (id > this.#accepted) this.#accepted = id
  }

  /** The service gives no ids above an observed id. */
  refuse(id: bigint): void {
    this.#refused = id
  }

  /** Forgets what the service has refused, but no larger id, which may have been observed since. */
  forget(): void {
    if (this.observed <= this.#refused) this.observed = this.#accepted
  }

  /** Drops the ids up to `id`, also those of batches that come later. Ids of a batch ascend. */
  observe(id: bigint): void {
    if (id <= this.observed) return
    this.observed = id
    if (this.#next !== undefined) this.dropped += this.#next.skip(id)
    if (this.#next?.left === 0) this.#next = undefined
    let skipped = 0
    while (this.#at < this.#windowEnd && (this.#ids[this.#at] as bigint) <= id) {
      this.#at++
      skipped++
    }
    if (this.#at === this.#windowEnd) skipped += this.#current.runs.skip(id)
    this.#end = Math.max(this.#end, this.#at)
    this.#takenBefore -= skipped
    this.dropped += skipped
    if (this.left === 0) this.#ask()
  }

  /** Returns how long ago a batch was requested. */
  ageOf(batch: Batch): number {
    return batch.age(this.#clock.monotonicMs(), this.#clock.wallMs())
  }

  #setService({ runs, askedMs, askedWallMs }: Batch): void {
    const { layout } = this.#options
    if (layout === undefined) return
    const timeMs = timestampMsOf(runs.first(0), layout)
    this.#serviceMs = timeMs - askedMs
    this.#serviceWallMs = timeMs - askedWallMs
  }

  get #isLate(): boolean {
    return this.#used >= this.#fetchAt && this.hasRoom
  }

  /** How many ids of the batch were handed out. */
  get #used(): number {
    return this.#current.runs.written - (this.#windowEnd - this.#at)
  }

  #begin(batch: Batch): void {
    const { prefetchAt } = this.#options
    this.#takenBefore += this.#used - batch.skipped
    this.#current = batch
    this.#at = 0
    this.#end = 0
    this.#windowEnd = 0
    this.#fetchAt = fetchAt(batch.count, this.#perMs, { prefetchAt, leadMs: leadRequests * this.#tookMs })
  }

  /**
   * Drops batches that are too old, or of another machine. Returns whether ids of the batch in use were used
   * before.
   */
  #dropOld(nowMs = this.#clock.monotonicMs()): boolean {
    const nowWallMs = this.#clock.wallMs()
    const generation = this.generation()
    const isUsable = (batch: Batch) =>
      generation === batch.generation && batch.age(nowMs, nowWallMs) < this.#options.maxAgeMs
    if (this.#next !== undefined && !isUsable(this.#next)) {
      this.drop(this.#next)
      this.#next = undefined
    }
    const left = this.#current.count - this.#used
    if (left === 0 || isUsable(this.#current)) return false
    const wasUsed = this.#used > 0
    this.dropped += left
    this.#begin(this.#empty)
    return wasUsed
  }

  /**
   * Drops ids that no call asks for. Ids that were used lately are replaced; a client that is not used makes
   * no request.
   */
  #expireLater(): void {
    const { maxAgeMs } = this.#options
    const oldest = this.#used < this.#current.count ? this.#current : this.#next
    this.#cancelExpiry = undefined
    if (oldest === undefined || oldest.count === 0 || maxAgeMs === Infinity) return
    const restMs = maxAgeMs - this.ageOf(oldest)
    this.#cancelExpiry = this.#clock.background(
      () => {
        const wasUsed = this.#dropOld()
        this.#expireLater()
        if (wasUsed && this.left === 0) this.#ask()
      },
      Math.max(1, restMs),
    )
  }
}
