import { two32 } from '../core/halves.js'
import type { SegmentMemory } from './memory.js'
import type { Segment } from './source.js'

/** The largest part of a segment that a thread takes at once, while others take from it, too. */
const partOfSegment = 16
const maxShared = 4096

/** Numbers that this thread has taken: those that ascend within one upper half of 32 bits. */
export class Run {
  /** How many are left. */
  left = 0
  /** Lower half of the next one, as a signed integer of 32 bits. */
  low = 0
  /** Upper half of all, and what it stands for. */
  high = 0
  base = 0
  readonly stride: number
  /** Whether other threads take from the memory, too. */
  isShared: boolean
  readonly #memory: SegmentMemory
  /** What was taken and lies beyond the present upper half. */
  #rest: Segment | undefined
  #taken = 0

  constructor(memory: SegmentMemory, stride: number, isShared: boolean) {
    this.#memory = memory
    this.stride = stride
    this.isShared = isShared
  }

  /** How many numbers of this thread were handed out. */
  get issued(): number {
    return this.#taken - this.left - (this.#rest?.count ?? 0)
  }

  /** How many numbers this thread still has. */
  get allLeft(): number {
    return this.left + (this.#rest?.count ?? 0)
  }

  /** The next number. */
  get next(): bigint {
    return (BigInt(this.high >>> 0) << 32n) | BigInt(this.low >>> 0)
  }

  /**
   * Takes more, where none is left.
   *
   * @returns Whether there are some, and whether it is time to fetch the next segment.
   */
  refill(): 'none' | 'some' | 'late' {
    if (this.#rest !== undefined) {
      this.#begin(this.#rest)
      return 'some'
    }
    const most = this.isShared ? Math.min(maxShared, Math.ceil(this.#memory.step / partOfSegment)) : Infinity
    const taken = this.#memory.take(most)
    if (taken === undefined) return 'none'
    this.#taken += taken.count
    this.#begin(taken)
    return taken.isLate ? 'late' : 'some'
  }

  /** Passes over numbers of the run that were handed out. */
  skip(count: number): void {
    this.left -= count
    this.low = (this.low + count * this.stride) | 0
  }

  /** Gives up what is left. */
  drop(): void {
    this.#taken -= this.allLeft
    this.left = 0
    this.#rest = undefined
  }

  #begin({ first, count }: Segment): void {
    const low = Number(BigInt.asUintN(32, first))
    const left = Math.min(count, Math.floor((two32 - 1 - low) / this.stride) + 1)
    this.left = left
    this.low = low | 0
    this.high = Number(first >> 32n) | 0
    this.base = Number(first >> 32n) * two32
    this.#rest = left === count ? undefined : { first: first + BigInt(left) * BigInt(this.stride), count: count - left }
  }
}
