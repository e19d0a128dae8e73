import type { IdArray } from '../state/engine.js'
import { checkIdArray, isSigned, lengthOf, signError } from './array.js'
import type { Progress, ReadyNumbers, Task } from './source.js'

/**
 * The numbers that a call that must not block takes in one go. They take far less time than the shortest
 * tick.
 */
const sliceLength = 16_384

/** Takes one number. */
export class OneTask implements Task {
  readonly missing = 1
  /**
   * The number. It is kept here because other calls overwrite the source's before the reader of the promise
   * runs.
   */
  id = 0n
  readonly #ready: ReadyNumbers

  constructor(ready: ReadyNumbers) {
    this.#ready = ready
  }

  proceed(by: Pick<ReadyNumbers, 'takeOne'> = this.#ready): Progress {
    if (by.takeOne() !== 0) return 'none'
    this.id = this.#ready.id
    return 'done'
  }
}

/** Fills an array. */
export class FillTask implements Task {
  readonly #ready: ReadyNumbers
  readonly #array: IdArray
  readonly #bits: number
  readonly #isSliced: boolean
  readonly #length: number
  #filled = 0
  /** The generation of the machine from before the first numbers were taken. */
  #generation = 0
  /** The array has just been checked. */
  #isFresh: boolean

  /**
   * @param array - Checked by the caller.
   * @param bits - The width of the numbers.
   * @param isSliced - The call must not block: it takes no more than {@link sliceLength} numbers in one go.
   */
  constructor(ready: ReadyNumbers, array: IdArray, bits: number, isSliced: boolean) {
    this.#ready = ready
    this.#array = array
    this.#bits = bits
    this.#isSliced = isSliced
    this.#isFresh = !isSliced
    this.#length = lengthOf(array)
  }

  get missing(): number {
    return this.#length - this.#filled
  }

  proceed(by: Pick<ReadyNumbers, 'fill'> = this.#ready): Progress {
    if (this.missing === 0) return 'done'
    // Again, because a clock or policy function, or other code that ran while this waited, may have
    // transferred the array.
    if (!this.#isFresh) checkIdArray(this.#array)
    this.#isFresh = false
    const to = this.#isSliced ? Math.min(this.#length, this.#filled + sliceLength) : this.#length
    const isFirst = this.#filled === 0
    if (isFirst) this.#generation = this.#ready.generation()
    const made = by.fill(this.#array, this.#filled, to)
    this.#filled += made
    // `fill` has checked its own numbers, and not those of the rounds before.
    if (!isFirst) this.#dropCopied()
    if (made > 0 && isSigned(this.#array, this.#bits)) this.#refuseNegative()
    if (this.missing === 0) return 'done'
    return made > 0 ? 'some' : 'none'
  }

  /**
   * Adds to an error how many numbers at the front count, also to an error of a function of the user.
   * `Reflect.set` leaves a frozen error as it is.
   */
  failed(error: unknown): unknown {
    this.#dropCopied()
    if (error instanceof Error) Reflect.set(error, 'filled', this.#filled)
    return error
  }

  /**
   * Begins again at the front if the machine was copied since the first numbers were taken, because the other
   * copies have them, too.
   */
  #dropCopied(): void {
    if (this.#filled > 0 && this.#ready.generation() !== this.#generation) this.#filled = 0
  }

  /** The numbers that were just written may have passed 2^63 after the array was checked. */
  #refuseNegative(): void {
    const filled = this.#filled
    while (this.#filled > 0 && (this.#array[this.#filled - 1] as bigint) < 0n) this.#filled--
    if (this.#filled < filled) throw signError()
  }
}
