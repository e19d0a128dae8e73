// Declares `Disposable` for programs whose lib is older than ESNext and that have no @types/node.
/// <reference lib="esnext.disposable" preserve="true" />

import { closedError, GraupelError, rangeError, typeError } from '../core/errors.js'
import { isSigned } from '../numbers/array.js'
import { FetchedNumbers } from '../numbers/fetched.js'
import { Numbers } from '../numbers/numbers.js'
import { Queue, type QueueClock } from '../numbers/queue.js'
import type { IdArray } from '../state/engine.js'
import { objectOf, type SegmentHandle, type SegmentInfo } from './handle.js'
import { Run } from './run.js'
import type { SegmentSupply } from './thread-channel.js'

/**
 * Makes numbers of segments, created by {@link createSegmentGenerator}. Its calls are the calls of an
 * IdGenerator, and can be passed as functions.
 *
 * @example
 * const orders = await createSegmentGenerator({ store, name: 'orders' })
 * orders.next() // 1n
 */
export interface SegmentGenerator extends Iterable<bigint>, Disposable {
  /** The name of the things that are numbered. */
  readonly name: string
  /**
   * For `createSegmentGenerator({ handle })` in other threads of this process: pass it as `workerData` or in
   * a message.
   *
   * @throws GraupelError `ERR_CLOSED`; `ERR_STATE_UNREACHABLE` if the threads of the platform share no
   * memory, or this worker has no addon and started before the main thread imported graupel.
   */
  readonly handle: SegmentHandle
  /**
   * Makes one number, larger than all numbers that this generator has made before.
   *
   * @throws GraupelError `ERR_EMPTY`, `ERR_CLOSED`; RangeError `ERR_SEGMENT_OVERFLOW`. Nothing is issued
   * then.
   */
  next(this: void): bigint
  /**
   * Makes one number as a JavaScript number. @throws as `next`; RangeError `ERR_NUMBER_UNSAFE` above 2^53 -
   * 1.
   */
  nextNumber(this: void): number
  /** Makes one number in decimal digits. @throws as `next` */
  nextString(this: void): string
  /**
   * Makes one number, and waits for the store if none is left. Calls get their numbers in the order in which
   * they were made. @throws as `next`
   */
  nextAsync(this: void): Promise<bigint>
  /**
   * Fills an array with numbers in ascending order, and returns it.
   *
   * @throws TypeError, RangeError `ERR_ARRAY_INVALID`; as `next`, with `filled`: how many elements at the
   * front hold numbers.
   */
  fill<A extends IdArray>(this: void, array: A): A
  /**
   * Fills an array, and waits for the store if no number is left. Do not use the array before the promise
   * settles. @throws as `fill`
   */
  fillAsync<A extends IdArray>(this: void, array: A): Promise<A>
  /**
   * Makes `count` numbers, 0 to 16 777 216. @throws TypeError, RangeError `ERR_OPTION_INVALID`; as `fill`.
   */
  take(this: void, count: number): bigint[]
  /** Counts what this generator has made and has left. */
  stats(this: void): SegmentStats
  /**
   * Closes the generator; in the thread that fetches, also those that other threads made with its handle. The
   * numbers that are left are never used. Later calls throw `ERR_CLOSED`, and waiting calls reject with it;
   * another thread first hands out what it has taken.
   */
  close(this: void): void
}

/** The result of {@link SegmentGenerator.stats}. */
export interface SegmentStats {
  /** The name of the things that are numbered. */
  name: string
  /** Name of the store. */
  store: string
  /** Numbers that this generator has made. */
  issued: number
  /**
   * Numbers that can be made without the store: numbers that all threads share, and numbers that this
   * generator has taken.
   */
  left: number
  /** How many numbers the next segment should have. */
  step: number
  /** Segments that were fetched. */
  segments: number
  /** Attempts to fetch a segment that have failed. */
  failures: number
  /** Why the last attempt has failed; empty after an attempt that succeeded. */
  failure: string
}

/** The class behind {@link createSegmentGenerator}. @internal */
export class SegmentNumbers extends Numbers implements SegmentGenerator {
  readonly #info: SegmentInfo
  readonly #supply: SegmentSupply
  readonly #run: Run
  readonly #more: FetchedNumbers
  readonly #clock: QueueClock

  constructor(info: SegmentInfo, supply: SegmentSupply, clock: QueueClock) {
    const run = new Run(supply.memory, info.stride, supply.isShared)
    super('SegmentGenerator', run)
    this.#clock = clock
    this.#info = info
    this.#supply = supply
    this.#run = run
    this.#more = new FetchedNumbers(run, supply, (failure) => this.#emptyError(failure))
  }

  get name(): string {
    return this.#info.name
  }

  get handle(): SegmentHandle {
    if (this.isClosed) throw closedError(this.object())
    this.#run.isShared = true
    return this.#supply.handle()
  }

  get stats(): () => SegmentStats {
    return Numbers.made(this, 'stats', (of) => () => of.#stats())
  }

  #stats(): SegmentStats {
    const { name, store } = this.#info
    const { memory, failure } = this.#supply
    // The numbers of the memory are of no use once the generator that fetches is closed. The run of this
    // thread is used up.
    const left = memory.isClosed ? 0 : memory.left
    return {
      name,
      store,
      issued: this.#run.issued,
      left: this.isClosed ? 0 : left + this.#run.left,
      step: memory.batchSize,
      segments: memory.segments,
      failures: memory.failures,
      failure: failure?.message ?? '',
    }
  }

  toJSON() {
    const { name, store } = this.#info
    return { name, store }
  }

  protected object(): string {
    return objectOf(this.#info.name)
  }

  protected get idLayout(): undefined {
    return undefined
  }

  protected queue(): Queue {
    return new Queue(this.#more, true, this.#clock)
  }

  protected more(): FetchedNumbers {
    return this.#more
  }

  protected end(): void {
    this.#run.drop()
    this.#supply.close()
  }

  protected override checkArray(array: IdArray): void {
    const { max } = this.#info
    if (max < 2n ** 63n || !isSigned(array, 64)) return
    throw typeError(
      'ERR_ARRAY_INVALID',
      `max is ${max}, and numbers from 2^63 on are negative in a BigInt64Array; pass a BigUint64Array`,
    )
  }

  #emptyError(failure: Error | undefined): Error {
    const { store } = this.#info
    if ((failure as GraupelError | undefined)?.code === 'ERR_SEGMENT_OVERFLOW') {
      return rangeError('ERR_SEGMENT_OVERFLOW', (failure as Error).message)
    }
    const text =
      failure === undefined
        ? `${this.object()} has no number ready: the next numbers come in a later turn of the event loop; await nextAsync()`
        : `${this.object()} has no number ready, because the store '${store}' gives none: ${failure.message}`
    return new GraupelError('ERR_EMPTY', text, { cause: failure })
  }
}
