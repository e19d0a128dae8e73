import type { Clock } from '../core/timing.js'
import { high, low } from '../core/typed-array.js'
import type { IdArray } from '../engine/engine.js'
import { copyIds, isSigned, signError } from '../numbers/array.js'
import type { Fetched } from '../numbers/fetched.js'
import { machineReader } from '../numbers/machine.js'
import { fetchAt, type Stock } from '../numbers/prefetcher.js'
import type { ReadyNumbers } from '../numbers/source.js'
import type { ResolvedOptions } from './options.js'

/** The most ids that are made ready between two looks at the clock. */
const maxSlice = 256
/** A slice should last no longer than this. */
const sliceMs = 1
/** The rest of a batch has to last for this many requests. */
const leadRequests = 2

/** Ids of one answer. Each id belongs to this client alone. */
export class Batch {
  readonly ids: BigUint64Array
  /** The same memory in halves of 32 bits. */
  readonly halves: Uint32Array
  /** The time of the request, which is before the ids were made: by a monotonic clock, and by the host's own. */
  readonly askedMs: number
  readonly askedWallMs: number
  /** The generation of the machine from before the request: a copy that is made during the request may have its answer, too. */
  readonly machine: number

  constructor(ids: BigUint64Array, askedMs: number, askedWallMs: number, machine: number) {
    this.ids = ids
    this.halves = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2)
    this.askedMs = askedMs
    this.askedWallMs = askedWallMs
    this.machine = machine
  }

  /** Returns the larger age of two clocks: the monotonic clock stops while a machine sleeps, and the other clock may be set back. */
  age(nowMs: number, nowWallMs: number): number {
    return Math.max(nowMs - this.askedMs, nowWallMs - this.askedWallMs)
  }
}

/**
 * The batch that is in use and the batch after it.
 *
 * The ids from `#at` to `#end` are ready: they are handed out without a look at the clock, which would cost more than the id. At most
 * {@link maxSlice} ids are ready, and only one if ids are used slowly. So ids that became too old, for example while the machine slept,
 * are dropped before they are used.
 */
export class Batches implements ReadyNumbers, Fetched, Stock {
  batchSize: number
  readonly #options: Pick<ResolvedOptions, 'prefetchAt' | 'maxAgeMs' | 'layout'>
  readonly #clock: Clock
  readonly #ask: () => void
  readonly #empty = new Batch(new BigUint64Array(0), 0, 0, 0)
  #current = this.#empty
  #ids = this.#empty.ids
  #halves = this.#empty.halves
  #machine = 0
  readonly #present = machineReader()
  #at = 0
  #end = 0
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
  #dropped = 0
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

  step(): number {
    if (this.#at === this.#end) return 1
    this.#at++
    // Read after the id is taken (`native/core/generation.h`).
    if (this.#present === undefined || this.#present() === this.#machine) return 0
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
    const count = Math.min(this.#ids.length - this.#at, to - from)
    if (isSigned(array, this.#options.layout?.bits ?? 64)) this.#refuseNegative(count)
    copyIds(array, this.#ids.subarray(this.#at, this.#at + count), from)
    const isOriginal = this.#present === undefined || this.#present() === this.#machine
    if (isOriginal) this.#at += count
    this.#end = this.#at
    if (!isOriginal) return 0
    if (this.#isLate) this.#ask()
    return count
  }

  /** How many ids were handed out. */
  get taken(): number {
    return this.#takenBefore + this.#at
  }

  /** How many ids were thrown away. */
  get dropped(): number {
    return this.#dropped
  }

  get left(): number {
    return this.#ids.length - this.#at + (this.#next?.ids.length ?? 0)
  }

  get hasRoom(): boolean {
    return this.#next === undefined
  }

  add(batch: Batch, perMs: number): void {
    this.#perMs = perMs
    this.#tookMs = Math.max(this.#clock.monotonicMs() - batch.askedMs, this.#tookMs / 2)
    if (this.#at === this.#ids.length) this.#begin(batch)
    else this.#next = batch
    if (this.#cancelExpiry === undefined) this.#expireLater()
  }

  refill(): 'none' | 'some' | 'late' {
    if (this.#at < this.#end) return 'some'
    this.#dropOld()
    if (this.#at === this.#ids.length) {
      if (this.#next === undefined) return 'none'
      this.#begin(this.#next)
      this.#next = undefined
    }
    const nowMs = this.#clock.monotonicMs()
    this.#slice = nowMs - this.#lookedMs < sliceMs ? Math.min(2 * this.#slice, maxSlice) : 1
    this.#lookedMs = nowMs
    // A slice ends at the id at which the next batch is requested.
    this.#end = Math.min(this.#at + this.#slice, this.#at < this.#fetchAt ? this.#fetchAt : this.#ids.length)
    return this.#isLate ? 'late' : 'some'
  }

  /** Throws away the ids that are left. */
  clear(): void {
    this.#cancelExpiry?.()
    this.#cancelExpiry = undefined
    this.#dropped += this.left
    this.#next = undefined
    this.#begin(this.#empty)
  }

  /** Counts a batch that came too late. */
  drop(batch: Batch): void {
    this.#dropped += batch.ids.length
  }

  /** Returns how long ago a batch was requested. */
  ageOf(batch: Batch): number {
    return batch.age(this.#clock.monotonicMs(), this.#clock.wallMs())
  }

  get #isLate(): boolean {
    return this.#at >= this.#fetchAt && this.hasRoom
  }

  #refuseNegative(count: number): void {
    for (let at = this.#at; at < this.#at + count; at++) {
      if ((this.#halves[2 * at + high] as number) >= 2 ** 31) throw signError()
    }
  }

  #begin(batch: Batch): void {
    const { prefetchAt } = this.#options
    this.#takenBefore += this.#at
    this.#current = batch
    this.#ids = batch.ids
    this.#halves = batch.halves
    this.#machine = batch.machine
    this.#at = 0
    this.#end = 0
    this.#fetchAt = fetchAt(batch.ids.length, this.#perMs, { prefetchAt, leadMs: leadRequests * this.#tookMs })
  }

  /** Returns whether a batch is not too old, and was not fetched by the machine of which this machine is a copy. */
  #isUsable(batch: Batch): boolean {
    const isOriginal = this.#present === undefined || this.#present() === batch.machine
    return isOriginal && this.ageOf(batch) < this.#options.maxAgeMs
  }

  /** Drops batches that are too old, or of another machine. Returns whether ids of the batch in use were used before. */
  #dropOld(): boolean {
    if (this.#next !== undefined && !this.#isUsable(this.#next)) {
      this.drop(this.#next)
      this.#next = undefined
    }
    const left = this.#ids.length - this.#at
    if (left === 0 || this.#isUsable(this.#current)) return false
    const wasUsed = this.#at > 0
    this.#dropped += left
    this.#begin(this.#empty)
    return wasUsed
  }

  /** Drops ids that no call asks for. Ids that were used lately are replaced; a client that is not used makes no request. */
  #expireLater(): void {
    const { maxAgeMs } = this.#options
    const oldest = this.#at < this.#ids.length ? this.#current : this.#next
    this.#cancelExpiry = undefined
    if (oldest === undefined || oldest.ids.length === 0 || maxAgeMs === Infinity) return
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
