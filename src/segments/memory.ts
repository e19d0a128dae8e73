import { requireAtomics } from '../core/atomics.js'
import type { Segment } from './range.js'

// The words of the memory. The index of a number is its position among all numbers that were fetched, from 0
// up.
const words = {
  /** The index of the first number that no thread has taken. */
  taken: 0,
  /** How many segments were fetched. The last two of them are kept. */
  segments: 1,
  /** 1 if the generator that fetches is closed, otherwise 0. */
  isClosed: 2,
  /** How many numbers the next segment should have. Threads size their runs by it. */
  batchSize: 3,
  /** Failed attempts to fetch a segment, for stats(). */
  failures: 4,
  /** How many numbers threads have taken and given up. */
  dropped: 5,
  /**
   * Five words for each segment: index of its first number, index after its last, its first number, index at
   * which to fetch the next, and the generation of the machine that has fetched it.
   */
  kept: 6,
} as const
const wordsOfSegment = 5
export const memoryBytes = /* @__PURE__ */ (() => (words.kept + 2 * wordsOfSegment) * 8)()

/** Numbers that a thread has taken. */
export interface Taken extends Segment {
  /** Whether it is time to fetch the next segment. */
  readonly isLate: boolean
  /** The generation of the machine from before the segment was fetched: `presentGeneration()`. */
  readonly generation: number
}

interface Kept {
  readonly from: bigint
  readonly to: bigint
  readonly first: bigint
  readonly fetchAt: bigint
  readonly generation: number
}

/**
 * The segment that is in use and the one after it, in memory that threads may share. One thread adds
 * segments; all take numbers from them, without a lock.
 */
export class SegmentMemory {
  readonly memory: SharedArrayBuffer | ArrayBuffer
  readonly #words: BigUint64Array
  readonly #stride: bigint

  constructor(memory: SharedArrayBuffer | ArrayBuffer, stride: number) {
    this.memory = memory
    this.#words = new BigUint64Array(memory, 0, memoryBytes / 8)
    this.#stride = BigInt(stride)
  }

  static make(stride: number): SegmentMemory {
    requireAtomics()
    const isShareable = typeof SharedArrayBuffer === 'function'
    return new SegmentMemory(isShareable ? new SharedArrayBuffer(memoryBytes) : new ArrayBuffer(memoryBytes), stride)
  }

  /**
   * Takes the next numbers of one segment; returns `undefined` if none is left.
   *
   * @param most - The most numbers to take. Fewer are taken at the end of a segment, and before the index at
   * which to fetch the next.
   */
  take(most: number): Taken | undefined {
    for (;;) {
      const segments = this.#load(words.segments)
      const index = this.#load(words.taken)
      const kept = this.#keptAt(index, segments)
      // A segment is overwritten only after another segment was added. The count of segments shows that.
      if (this.#load(words.segments) !== segments) continue
      if (kept === undefined) return undefined
      const isLate = index >= kept.fetchAt
      const count = Math.min(most, Number((isLate ? kept.to : kept.fetchAt) - index))
      // The older segment is overwritten only after all its numbers were taken. Then the index has moved, and
      // the exchange fails.
      if (Atomics.compareExchange(this.#words, words.taken, index, index + BigInt(count)) === index) {
        return { first: kept.first + (index - kept.from) * this.#stride, count, isLate, generation: kept.generation }
      }
    }
  }

  /** Whether a segment can be added: at most one segment still has numbers. */
  get hasRoom(): boolean {
    const segments = this.#load(words.segments)
    return segments < 2n || this.#read(segments).to <= this.#load(words.taken)
  }

  /**
   * Adds a segment. Only one thread may call this, and only if there is room.
   *
   * @param fetchAt - After how many of its numbers, 0 to `count`, the next segment is fetched.
   * @param generation - The generation of the machine from before it was fetched.
   */
  add({ first, count }: Segment, fetchAt: number, generation: number): void {
    const segments = this.#load(words.segments)
    const from = segments === 0n ? 0n : this.#read(segments - 1n).to
    const at = this.#at(segments)
    for (const [i, value] of [
      from,
      from + BigInt(count),
      first,
      from + BigInt(fetchAt),
      BigInt(generation),
    ].entries()) {
      Atomics.store(this.#words, at + i, value)
    }
    // Last, because a thread that sees it reads the rest.
    Atomics.store(this.#words, words.segments, segments + 1n)
  }

  /** How many numbers all threads have taken for use. */
  get taken(): number {
    return Number(this.#load(words.taken) - this.#load(words.dropped))
  }

  /** Notes that numbers which were taken are given up. */
  drop(count: number): void {
    Atomics.add(this.#words, words.dropped, BigInt(count))
  }

  /** Numbers that no thread has taken. */
  get left(): number {
    const segments = this.#load(words.segments)
    return segments === 0n ? 0 : Math.max(0, Number(this.#read(segments - 1n).to - this.#load(words.taken)))
  }

  get segments(): number {
    return Number(this.#load(words.segments))
  }

  get batchSize(): number {
    return Number(this.#load(words.batchSize))
  }

  set batchSize(count: number) {
    Atomics.store(this.#words, words.batchSize, BigInt(count))
  }

  get failures(): number {
    return Number(this.#load(words.failures))
  }

  countFailure(): void {
    Atomics.add(this.#words, words.failures, 1n)
  }

  get isClosed(): boolean {
    return this.#load(words.isClosed) !== 0n
  }

  close(): void {
    Atomics.store(this.#words, words.isClosed, 1n)
  }

  /** Reads the segment in which an index lies. */
  #keptAt(index: bigint, segments: bigint): Kept | undefined {
    if (segments === 0n) return undefined
    const newest = this.#read(segments - 1n)
    if (index >= newest.to) return undefined
    // Decided by the newest segment alone: the words of the other may be overwritten by the next segment at
    // this moment.
    return index >= newest.from ? newest : this.#read(segments - 2n)
  }

  #read(segment: bigint): Kept {
    const at = this.#at(segment)
    const word = (i: number) => this.#load(at + i)
    return {
      from: word(0),
      to: word(1),
      first: word(2),
      fetchAt: word(3),
      generation: Number(BigInt.asIntN(64, word(4))),
    }
  }

  #at(segment: bigint): number {
    return words.kept + Number(segment % 2n) * wordsOfSegment
  }

  #load(word: number): bigint {
    return Atomics.load(this.#words, word)
  }
}
