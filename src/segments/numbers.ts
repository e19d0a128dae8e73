import { closedError, GraupelError, rangeError, typeError } from '../core/errors.js'
import type { IdArray } from '../engine/engine.js'
import { checkCount, checkIdArray, isSigned, lengthOf } from '../generator/array.js'
import { endless, inspectWith } from '../generator/object.js'
import { fillInTurn, Turns, type Wait } from '../generator/turns.js'
import type { SegmentHandle } from './handle.js'
import { makersOf } from './makers.js'
import type { SegmentMemory } from './memory.js'
import { writeNumbersOf } from './rows.js'
import { Run } from './run.js'
import type { SegmentGenerator } from './segment-generator.js'
import type { SegmentStats } from './stats.js'
import { objectOf, type Supply } from './supply.js'

/** What numbers are made of. */
export interface NumberParts {
  readonly name: string
  readonly store: string
  readonly max: bigint
  readonly stride: number
  readonly memory: SegmentMemory
  readonly supply: Supply
  /** Whether other threads take from the memory, too. */
  readonly isShared: boolean
  /** Opens the memory to other threads. */
  share(): SegmentHandle
}

/** The class behind {@link createSegmentGenerator}. @internal */
export class Numbers implements SegmentGenerator {
  declare readonly next: () => bigint
  declare readonly nextNumber: () => number
  declare readonly nextString: () => string
  declare readonly nextAsync: () => Promise<bigint>
  readonly #parts: NumberParts
  readonly #run: Run
  #isClosed = false
  readonly #turns = new Turns()

  constructor(parts: NumberParts) {
    const { memory, stride, isShared } = parts
    this.#parts = parts
    this.#run = new Run(memory, stride, isShared)
    const refill = () => this.#refill()
    const methods = { ...makersOf(this.#run, refill), nextAsync: () => this.#nextAsync() }
    for (const [name, value] of Object.entries(methods)) {
      Object.defineProperty(this, name, { value, writable: true, configurable: true })
    }
  }

  get name(): string {
    return this.#parts.name
  }

  get handle(): SegmentHandle {
    if (this.#isClosed) throw this.#closedError()
    this.#run.isShared = true
    return this.#parts.share()
  }

  fill<A extends IdArray>(array: A): A {
    this.#checkArray(array)
    for (let at = 0; at < lengthOf(array); ) {
      try {
        if (this.#run.left === 0) this.#refill()
      } catch (error) {
        throw Object.assign(error as Error, { filled: at })
      }
      at += this.#write(array, at)
    }
    return array
  }

  async fillAsync<A extends IdArray>(array: A): Promise<A> {
    this.#checkArray(array)
    return fillInTurn(
      array,
      (fill: (wait: Wait) => Promise<void>) => this.#turns.take(fill),
      (_, wait) => (this.#run.left === 0 ? this.#refillAsync(wait) : undefined),
      (at) => this.#write(array, at),
    )
  }

  take(count: number): bigint[] {
    checkCount(count)
    return Array.from(this.fill(new BigUint64Array(count)))
  }

  [Symbol.iterator](): IterableIterator<bigint> {
    return endless(this)
  }

  stats(): SegmentStats {
    const { name, store, memory, supply } = this.#parts
    // What is left of the memory is of no use once the generator that fetches is closed; a run is used up.
    const left = memory.isClosed ? 0 : memory.left
    return {
      name,
      store,
      issued: this.#run.issued,
      left: this.#isClosed ? 0 : left + this.#run.allLeft,
      step: memory.step,
      segments: memory.segments,
      failures: memory.failures,
      failure: supply.failure?.message ?? '',
    }
  }

  toJSON() {
    const { name, store } = this.#parts
    return { name, store }
  }

  [inspectWith](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
    return `SegmentGenerator ${inspect(this.toJSON(), options)}`
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#run.drop()
    this.#parts.supply.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** @throws as `next`, where none is left. */
  #refill(): void {
    const { memory, supply } = this.#parts
    if (this.#isClosed || memory.isClosed) throw this.#closedError()
    const found = this.#run.refill()
    if (found !== 'some') supply.ask()
    if (found === 'none') throw this.#exhausted()
  }

  async #nextAsync(): Promise<bigint> {
    if (this.#turns.isEmpty && this.#run.left > 0) return this.next()
    return this.#turns.take(async (wait) => {
      // Looked at in the turn in which it is taken: what has come may go to a call of next() before this one goes on.
      while (this.#run.left === 0) await this.#refillAsync(wait)
      return this.next()
    })
  }

  /** Takes more, or waits for the store where none is left. */
  async #refillAsync(wait: Wait): Promise<void> {
    const { memory, supply } = this.#parts
    if (this.#isClosed || memory.isClosed) throw this.#closedError()
    const found = this.#run.refill()
    if (found !== 'some') supply.ask()
    if (found !== 'none') return
    try {
      await wait(() => supply.arrival())
    } catch (error) {
      // Closed before this call, by its own thread or by the one that fetches: that is told as it is.
      throw (error as GraupelError).code === 'ERR_CLOSED' ? this.#closedError() : this.#exhausted(error as Error)
    }
  }

  #checkArray(array: unknown): asserts array is IdArray {
    checkIdArray(array)
    if (this.#isClosed) throw this.#closedError()
    const { max } = this.#parts
    if (isSigned(array, { bits: max >= 2n ** 63n ? 64 : 63 })) {
      throw typeError(
        'ERR_ARRAY_INVALID',
        `max is ${max}, and numbers from 2^63 on are negative in a BigInt64Array; pass a BigUint64Array`,
      )
    }
  }

  /** Writes what the run has, from a place of the array on; how many. */
  #write(array: IdArray, at: number): number {
    const run = this.#run
    const count = Math.min(run.left, lengthOf(array) - at)
    writeNumbersOf(run, array, at, count)
    run.skip(count)
    return count
  }

  #closedError(): Error {
    return closedError(objectOf(this.#parts.name))
  }

  #exhausted(failure = this.#parts.supply.failure): Error {
    const { name, store } = this.#parts
    if ((failure as GraupelError | undefined)?.code === 'ERR_SEGMENT_OVERFLOW') {
      return rangeError('ERR_SEGMENT_OVERFLOW', (failure as Error).message)
    }
    const object = objectOf(name)
    const text =
      failure === undefined
        ? `${object} has no number ready: the next numbers come in a later turn of the event loop; await nextAsync()`
        : `${object} has no number ready, because the store '${store}' gives none: ${failure.message}`
    return new GraupelError('ERR_EMPTY', text, { cause: failure })
  }
}
