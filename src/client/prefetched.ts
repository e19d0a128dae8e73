import type { Clock } from '../core/timing.js'
import { fetchAt } from '../segments/steps.js'
import { type Batch, emptyBatch } from './batch.js'

/** The most ids that are made between two looks at the clock. */
const maxSlice = 256
/** A slice should last no longer than this. */
const sliceMs = 1

export interface PrefetchedOptions {
  /** Batches that are older are dropped. */
  readonly maxAgeMs: number
  /** Which part of a batch is used when the next one is fetched. */
  readonly prefetchAt: number
  readonly clocks: Clock
}

/**
 * The batch that is in use and the one after it.
 *
 * The calls that make one id read `ids` from `at` to `end` without a look at the clock, which would cost more than the id. `end` is at
 * most {@link maxSlice} ids away, and one id where ids are used slowly: so ids that have become too old, as those of a machine that
 * slept, are dropped before they are used.
 */
export class Prefetched {
  /** What is in use. */
  ids: BigUint64Array = emptyBatch.ids
  halves: Uint32Array = emptyBatch.halves
  at = 0
  end = 0
  /** Ids a millisecond that were used lately, and for how many milliseconds the rest has to last when the next batch is fetched. */
  perMs = 0
  leadMs = 0
  readonly #options: PrefetchedOptions
  #current: Batch = emptyBatch
  #next: Batch | undefined
  #fetchAt = 0
  #slice = 1
  #lookedMs = 0
  /** Ids of batches that were used up or dropped. */
  #issuedBefore = 0
  #dropped = 0
  #cancelExpiry: (() => void) | undefined
  /** Told that ids were dropped for their age after others of the same batch were used. */
  readonly #onExpiry: () => void

  constructor(options: PrefetchedOptions, onExpiry: () => void) {
    this.#options = options
    this.#onExpiry = onExpiry
  }

  /** How many ids were handed out. */
  get issued(): number {
    return this.#issuedBefore + this.at
  }

  /** How many were thrown away. */
  get dropped(): number {
    return this.#dropped
  }

  get left(): number {
    return this.ids.length - this.at + (this.#next?.ids.length ?? 0)
  }

  /** Whether another batch can be added. */
  get hasRoom(): boolean {
    return this.#next === undefined
  }

  /** Whether so much of the batch is used that the next one is to be fetched. */
  get isLate(): boolean {
    return this.at >= this.#fetchAt && this.hasRoom
  }

  add(batch: Batch): void {
    if (this.at === this.ids.length) this.#begin(batch)
    else this.#next = batch
    if (this.#cancelExpiry === undefined) this.#expireLater()
  }

  /** @returns Whether there are ids, and whether it is time to fetch more. */
  look(): 'none' | 'some' | 'late' {
    this.#dropOld()
    if (this.at === this.ids.length) {
      if (this.#next === undefined) {
        this.end = this.at
        return 'none'
      }
      this.#begin(this.#next)
      this.#next = undefined
    }
    const nowMs = this.#options.clocks.monotonicMs()
    this.#slice = nowMs - this.#lookedMs < sliceMs ? Math.min(2 * this.#slice, maxSlice) : 1
    this.#lookedMs = nowMs
    // The next look is due where the next batch is.
    this.end = Math.min(this.at + this.#slice, this.at < this.#fetchAt ? this.#fetchAt : this.ids.length)
    return this.isLate ? 'late' : 'some'
  }

  /** Passes over ids that were handed out; the next call looks. */
  skip(count: number): void {
    this.at += count
    this.end = this.at
  }

  /** Throws away what is left. */
  clear(): void {
    this.#cancelExpiry?.()
    this.#cancelExpiry = undefined
    this.#dropped += this.left
    this.#next = undefined
    this.#begin(emptyBatch)
  }

  /** Counts ids that came too late. */
  drop(count: number): void {
    this.#dropped += count
  }

  #begin(batch: Batch): void {
    const { prefetchAt } = this.#options
    this.#issuedBefore += this.at
    this.#current = batch
    this.ids = batch.ids
    this.halves = batch.halves
    this.at = 0
    this.end = 0
    this.#fetchAt = fetchAt(batch.ids.length, this.perMs, { prefetchAt, leadMs: this.leadMs })
  }

  /** @returns Whether ids of a batch that was in use were dropped. */
  #dropOld(): boolean {
    const { maxAgeMs, clocks } = this.#options
    const nowMs = clocks.monotonicMs()
    const nowWallMs = clocks.wallMs()
    const isOld = (batch: Batch) => batch.age(nowMs, nowWallMs) >= maxAgeMs
    if (this.#next !== undefined && isOld(this.#next)) {
      this.#dropped += this.#next.ids.length
      this.#next = undefined
    }
    const left = this.ids.length - this.at
    if (left === 0 || !isOld(this.#current)) return false
    const wasUsed = this.at > 0
    this.#dropped += left
    this.#begin(emptyBatch)
    return wasUsed
  }

  /** Drops what no call asks for. Ids that were used lately are replaced; a client that is not used makes no request. */
  #expireLater(): void {
    const { maxAgeMs, clocks } = this.#options
    const oldest = this.at < this.ids.length ? this.#current : this.#next
    this.#cancelExpiry = undefined
    if (oldest === undefined || oldest.ids.length === 0 || maxAgeMs === Infinity) return
    const restMs = maxAgeMs - oldest.age(clocks.monotonicMs(), clocks.wallMs())
    this.#cancelExpiry = clocks.background(
      () => {
        const wasUsed = this.#dropOld()
        this.#expireLater()
        if (wasUsed && this.left === 0) this.#onExpiry()
      },
      Math.max(1, restMs),
    )
  }
}
