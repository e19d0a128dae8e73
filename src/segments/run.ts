import { halves, high, low, two32, whole } from '../core/typed-array.js'
import type { Fetched } from '../numbers/fetched.js'
import { generationReader } from '../numbers/generation.js'
import { writeRun } from '../numbers/row.js'
import type { ReadyNumbers } from '../numbers/source.js'
import type { IdArray } from '../state/engine.js'
import type { SegmentMemory } from './memory.js'
import type { Segment } from './range.js'

/** The largest part of a segment that a thread takes at once, while others take from it, too. */
const partOfSegment = 16
const maxShared = 4096

/** Numbers that this thread has taken. Those that are ready ascend within one upper half of 32 bits. */
export class Run implements ReadyNumbers, Fetched {
  /** How many numbers are ready. */
  #ready = 0
  /** Lower half of the next number, as a signed integer of 32 bits. */
  #low = 0
  /** Upper half of all numbers that are ready. */
  #high = 0
  /** Whether other threads take from the memory, too. */
  isShared: boolean
  readonly #stride: number
  readonly #memory: SegmentMemory
  /** Numbers that were taken, and lie beyond the present upper half. */
  #rest: Segment | undefined
  #taken = 0
  /** The generation of the machine that has fetched the numbers. */
  #generation = 0
  readonly generation = generationReader()

  constructor(memory: SegmentMemory, stride: number, isShared: boolean) {
    this.#memory = memory
    this.#stride = stride
    this.isShared = isShared
  }

  takeOne(): number {
    if (this.#ready === 0 && !this.#beginRest()) return 1
    this.#ready--
    this.#low = (this.#low + this.#stride) | 0
    // Read after the number is taken (`native/core/generation.h`).
    if (this.generation() === this.#generation) return 0
    this.#takeBack(1)
    return 1
  }

  get id(): bigint {
    halves[low] = this.#low - this.#stride
    halves[high] = this.#high
    return whole[0] as bigint
  }

  get idHigh(): number {
    return this.#high
  }

  get idLow(): number {
    return (this.#low - this.#stride) >>> 0
  }

  putBack(): void {
    this.#skip(-1)
  }

  fill(array: IdArray, from: number, to: number): number {
    let at = from
    do {
      const count = Math.min(this.#ready, to - at)
      const first = (BigInt(this.#high) << 32n) | BigInt(this.#low >>> 0)
      if (count > 0) writeRun(array, at, count, first, this.#stride)
      this.#skip(count)
      at += count
    } while (at < to && this.#beginRest())
    if (this.#isOriginal()) return at - from
    this.#takeBack(at - from)
    return 0
  }

  /** How many numbers of this thread were handed out. */
  get issued(): number {
    return this.#taken - this.left
  }

  /** How many numbers this thread still has. */
  get left(): number {
    return this.#ready + (this.#rest?.count ?? 0)
  }

  refill(): 'none' | 'some' | 'late' {
    if (this.#ready > 0) return 'some'
    const most = this.isShared ? Math.min(maxShared, Math.ceil(this.#memory.batchSize / partOfSegment)) : Infinity
    for (;;) {
      const taken = this.#memory.take(most)
      if (taken === undefined) return 'none'
      this.#generation = taken.generation
      if (this.#isOriginal()) {
        this.#taken += taken.count
        this.#begin(taken)
        return taken.isLate ? 'late' : 'some'
      }
      // In a copy of the machine, the numbers that were fetched before are the other machine's as well.
      this.#memory.drop(taken.count)
    }
  }

  /** Gives up the numbers that are left. */
  drop(): void {
    this.#taken -= this.left
    this.#memory.drop(this.left)
    this.#ready = 0
    this.#rest = undefined
  }

  /** Whether this machine has fetched the numbers, and not the machine of which this one is a copy. */
  #isOriginal(): boolean {
    return this.generation() === this.#generation
  }

  /** Gives up the last numbers, which a copy of the machine must not give, and all that are left. */
  #takeBack(count: number): void {
    this.#skip(-count)
    this.drop()
  }

  /** Makes the numbers beyond the upper half ready. Returns whether there are any. */
  #beginRest(): boolean {
    if (this.#rest === undefined) return false
    this.#begin(this.#rest)
    return true
  }

  #begin({ first, count }: Segment): void {
    const lower = Number(BigInt.asUintN(32, first))
    const ready = Math.min(count, Math.floor((two32 - 1 - lower) / this.#stride) + 1)
    this.#ready = ready
    this.#low = lower | 0
    this.#high = Number(first >> 32n)
    const next = first + BigInt(ready) * BigInt(this.#stride)
    this.#rest = ready === count ? undefined : { first: next, count: count - ready }
  }

  #skip(count: number): void {
    this.#ready -= count
    this.#low = (this.#low + count * this.#stride) | 0
  }
}
