import { DecimalWriter } from '../codec/decimal.js'
import { closedError, rangeError, showByJson } from '../core/errors.js'
import { two32 } from '../core/typed-array.js'
import type { Layout } from '../layout/index.js'
import type { IdArray } from '../state/engine.js'
import { checkCount, checkIdArray } from './array.js'
import type { Queue } from './queue.js'
import type { MoreNumbers, ReadyNumbers } from './source.js'
import { FillTask, OneTask } from './task.js'

/** The upper half of 2^53. */
const unsafeHigh = 0x20_0000

/**
 * The calls that generators, segment generators and clients have in common. A subclass adds the source of
 * more numbers.
 *
 * @internal
 */
export abstract class Numbers {
  declare readonly next: () => bigint
  readonly #ready: ReadyNumbers
  #queue: Queue | undefined
  #isClosed = false

  /** @param type - The name that `console.log` shows. */
  constructor(type: string, ready: ReadyNumbers) {
    this.#ready = ready
    showByJson(this, type)
    // The calls that run for each number are functions and not methods, so that they can be passed on without
    // their object. They close over few variables: V8 treats these as constants if a call site has one
    // object, which saves 1 ns in 30.
    define(this, 'next', (): bigint => {
      if (ready.takeOne() !== 0) this.#finishOne()
      return ready.id
    })
  }

  // The other calls can be passed on, too. They are made when they are first read: with three of them, a
  // generator takes two thirds more memory.

  get nextString(): () => string {
    return Numbers.made(this, 'nextString', (of) => {
      const ready = of.#ready
      const text = new DecimalWriter()
      return () => {
        if (ready.takeOne() !== 0) of.#finishOne()
        return text.write(ready.idHigh, ready.idLow)
      }
    })
  }

  get nextNumber(): () => number {
    return Numbers.made(this, 'nextNumber', (of) => {
      const ready = of.#ready
      const { name, bits = 0 } = of.idLayout ?? {}
      if (bits > 53) {
        return () => {
          throw rangeError(
            'ERR_NUMBER_UNSAFE',
            `ids of layout '${name}' have ${bits} bits, and a number holds 53; use next() or nextString(), or layouts.js53`,
          )
        }
      }
      return () => {
        if (ready.takeOne() !== 0) of.#finishOne()
        const high = ready.idHigh
        if (high >= unsafeHigh) throw of.#unsafe()
        return high * two32 + ready.idLow
      }
    })
  }

  get nextAsync(): () => Promise<bigint> {
    return Numbers.made(this, 'nextAsync', (of) => () => of.#nextAsync())
  }

  get fill(): <A extends IdArray>(array: A) => A {
    return Numbers.made(this, 'fill', (of) => (array) => of.#fill(array))
  }

  get fillAsync(): <A extends IdArray>(array: A) => Promise<A> {
    return Numbers.made(this, 'fillAsync', (of) => (array) => of.#fillAsync(array))
  }

  get take(): (count: number) => bigint[] {
    return Numbers.made(this, 'take', (of) => (count) => {
      checkCount(count)
      return Array.from(of.#fill(new BigUint64Array(count)))
    })
  }

  get close(): () => void {
    return Numbers.made(this, 'close', (of) => () => of.#close())
  }

  /**
   * Makes a call that takes the next number of an object, and returns what `write` makes of its halves.
   * Without a bigint, the call takes half the time. Returns `undefined` for any other object, such as one of
   * another copy of this package.
   */
  static inHalves<T>(of: object, write: (high: number, low: number) => T): (() => T) | undefined {
    if (!(#ready in of)) return undefined
    const ready = of.#ready
    return () => {
      if (ready.takeOne() !== 0) of.#finishOne()
      return write(ready.idHigh, ready.idLow)
    }
  }

  /**
   * Makes a call of an object, once. Tools that replace methods read them from the prototype, without an
   * object.
   */
  protected static made<O extends Numbers, C>(
    of: O,
    name: string,
    make: (of: O) => C & ((value: never) => unknown),
  ): C {
    if (!(#ready in Object(of))) {
      return function (this: O, value: never) {
        return make(this)(value)
      } as C
    }
    const call = make(of)
    define(of, name, call)
    return call
  }

  /** Names the object in messages: `the segment generator 'orders'`. */
  protected abstract object(): string
  /** The layout of the numbers. Numbers without a layout have up to 64 bits. */
  protected abstract get idLayout(): Layout | undefined
  /** Returns the source of more numbers. */
  protected abstract more(): MoreNumbers
  /** Makes the queue of the calls that wait. */
  protected abstract queue(more: MoreNumbers): Queue
  /** Frees what the object holds; called once. */
  protected abstract end(): void
  /** Shows the object to `JSON.stringify` and `console.log`. */
  abstract toJSON(): object

  /** Refuses an array whose elements cannot hold the numbers. */
  protected checkArray(_array: IdArray): void {}

  #fill<A extends IdArray>(array: A): A {
    const task = this.#fillTask(array, false)
    try {
      if (task.proceed() !== 'done') this.#more().finish(task)
    } catch (error) {
      throw task.failed(error)
    }
    return array
  }

  async #fillAsync<A extends IdArray>(array: A): Promise<A> {
    const task = this.#fillTask(array, true)
    if (task.missing === 0 && this.#isIdle) return array
    try {
      await this.#queued().add(task)
    } catch (error) {
      throw task.failed(error)
    }
    return array
  }

  [Symbol.iterator](): IterableIterator<bigint> {
    return iterate(() => this.next())
  }

  #close(): void {
    if (this.#isClosed) return
    // Set before `end()`, which may call a function of the user that closes the object again.
    this.#isClosed = true
    try {
      this.end()
    } finally {
      this.#queue?.close(() => this.#closed())
    }
  }

  [Symbol.dispose](): void {
    this.close()
  }

  protected get isClosed(): boolean {
    return this.#isClosed
  }

  async #nextAsync(): Promise<bigint> {
    if (this.#isIdle && this.#ready.takeOne() === 0) return this.#ready.id
    const task = new OneTask(this.#ready)
    await this.#queued().add(task)
    return task.id
  }

  /** Whether no call waits. */
  get #isIdle(): boolean {
    return this.#queue === undefined || this.#queue.isEmpty
  }

  #finishOne(): void {
    this.#more().finish(new OneTask(this.#ready))
  }

  #fillTask(array: IdArray, isSliced: boolean): FillTask {
    checkIdArray(array)
    if (this.#isClosed) throw this.#closed()
    this.checkArray(array)
    return new FillTask(this.#ready, array, this.idLayout?.bits ?? 64, isSliced)
  }

  #more(): MoreNumbers {
    if (this.#isClosed) throw this.#closed()
    return this.more()
  }

  #queued(): Queue {
    const more = this.#more()
    this.#queue ??= this.queue(more)
    return this.#queue
  }

  #closed(): Error {
    return closedError(this.object())
  }

  #unsafe(): RangeError {
    const { id } = this.#ready
    this.#ready.putBack?.()
    return rangeError(
      'ERR_NUMBER_UNSAFE',
      `the next number is ${id}, and a JavaScript number holds up to 2^53 - 1; use next() or nextString()`,
    )
  }
}

/** Iterates over the results of a function without end. @internal */
export function iterate<T>(next: () => T): IterableIterator<T> {
  const iterator = {
    next: () => ({ done: false as const, value: next() }),
    [Symbol.iterator]: () => iterator,
  }
  return iterator
}

/**
 * Gives an object a function that, like a method, is not enumerable and can be replaced by a test. @internal
 */
export function define(object: object, name: string, value: (...args: never[]) => unknown): void {
  Object.defineProperty(object, name, { value, writable: true, configurable: true })
}
