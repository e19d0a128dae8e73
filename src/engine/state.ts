import { emptyLease } from './lease.js'
import type { SequenceStart } from './start.js'
import type { StateTable } from './state-table.js'

/** Ticks whose marks a history remembers; as in `native/core/history.h`. */
const historyTicks = 1024

/** A history, in 8-byte units: 1 once it may be used, the floor (a slot), the marks. */
const openAt = 0
const floorAt = 1
const marksAt = 2

/** In the place of a state word: the native engine counts this key now (`moveTo`). */
export const movedAway = 0xffff_ffff_ffff_ffffn
/**
 * In the same place: the process has given the key back (`giveBack`), and has to take it again before it goes on. Each time
 * it is the next of these values, so that a thread that comes late takes up nothing but what it has seen. No layout has so
 * high a slot: 64 bits of timestamp and sequence leave 11 to the sequence at least.
 */
const givenBack = { from: movedAway - 1024n, count: 1024 } as const

export function isGivenBack(word: bigint): boolean {
  return word >= givenBack.from && word < movedAway
}

/** A ceiling below which there is nothing. Zero is none. */
const lowestCeiling = 1n

/** Where, from the beginning of a record, the state is (`src/engine/state-table.ts`); in units of its own size. */
const historyAt = 2
const stepAt = 3
const generatorsAt = 4
const timesGivenBackAt = 5
const wordAt = 3
const highAt = 4
const ceilingAt = 5

/** What a reservation ended with; with `ceiling`, the next slot lies above it, or the key was given back. */
export type Reserved = 'run' | 'ahead' | 'moved' | 'ceiling'

/**
 * What all threads share about one key: `native/core/state.h` and `history.h` in TypeScript, over Atomics.
 *
 * Slots have up to 64 bits and are bigints in here; a lease is taken for many ids at once, so this is not the hot path.
 */
export class State {
  /** The run of the last call that answered `run`. */
  tick = 0
  sequence = 0
  count = 0
  /** What this thread is handing out of it. */
  readonly lease = emptyLease()

  readonly #table: StateTable
  readonly #words: BigUint64Array
  readonly #at: number
  readonly #bits: bigint
  readonly #capacity: number
  readonly #maxTick: number

  /** @param at - The record's offset in bytes. */
  constructor(table: StateTable, at: number, sequenceBits: number, maxTick: number) {
    this.#table = table
    this.#words = table.words64
    this.#at = at
    this.#bits = BigInt(sequenceBits)
    this.#capacity = 2 ** sequenceBits
    this.#maxTick = maxTick
  }

  /** The state word: the first slot that nobody has. */
  word(): bigint {
    return Atomics.load(this.#words, this.#at / 8 + wordAt)
  }

  highTick(): number {
    return Number(Atomics.load(this.#words, this.#at / 8 + highAt))
  }

  tickOf(slot: bigint): number {
    return Number(slot >> this.#bits)
  }

  /** Between one and `want` slots, none beyond `limitTick`, all of one tick if `oneTick`. */
  reserve(nowTick: number, limitTick: number, want: number, oneTick: boolean, start: SequenceStart): Reserved {
    const limit = Math.min(limitTick, this.#maxTick)
    const nowSlot = this.#slot(nowTick, 0)
    this.#raise(this.#at / 8 + highAt, BigInt(nowTick))
    for (;;) {
      const word = this.word()
      if (word === movedAway) return 'moved'
      if (isGivenBack(word)) return 'ceiling'
      const passed = word <= nowSlot
      const tick = passed ? nowTick : this.tickOf(word)
      const sequence = passed ? start.first(this.#sequenceOf(word)) : this.#sequenceOf(word)
      if (tick > limit) return 'ahead'
      const room = (oneTick ? 1 : limit - tick + 1) * this.#capacity - sequence
      const first = this.#slot(tick, sequence)
      const ceiling = this.ceiling()
      if (ceiling !== 0n && first >= ceiling) return 'ceiling'
      const count = Math.min(want, room, ceiling === 0n ? room : Number(ceiling - first))
      const next = first + BigInt(count)
      const history = Atomics.load(this.#table.words32, this.#at / 4 + historyAt)
      if (history !== 0) this.#leave(history / 8, word, tick, next)
      if (Atomics.compareExchange(this.#words, this.#at / 8 + wordAt, word, next) === word) {
        this.tick = tick
        this.sequence = sequence
        this.count = count
        return 'run'
      }
    }
  }

  /** The same from slots of the past tick `nowTick` that nobody was given. */
  reserveUnused(nowTick: number, want: number): Reserved {
    const word = this.word()
    if (word === movedAway) return 'moved'
    if (isGivenBack(word)) return 'ceiling'
    const history = Atomics.load(this.#table.words32, this.#at / 4 + historyAt) / 8
    if (word === 0n || this.tickOf(word - 1n) <= nowTick || history === 0) return 'ahead'
    const mark = this.#markOf(history, nowTick)
    const begin = this.#slot(nowTick, 0)
    const end = this.#slot(nowTick + 1, 0)
    const isOpen = Atomics.load(this.#words, history + openAt) === 1n
    if (!isOpen || begin < Atomics.load(this.#words, history + floorAt)) return 'ahead'
    for (;;) {
      const seen = Atomics.load(this.#words, mark)
      // An older mark: the word skipped this tick. A younger one has overwritten it: unknown, so treat it as full.
      // Not Math.max: these are bigints, which it does not take.
      const from = seen < begin ? begin : seen
      if (from >= end) return 'ahead'
      const count = Math.min(want, Number(end - from))
      if (Atomics.compareExchange(this.#words, mark, seen, from + BigInt(count)) === seen) {
        this.tick = nowTick
        this.sequence = Number(from - begin)
        this.count = count
        return 'run'
      }
    }
  }

  /** Keeps marks from now on; `EnableHistory` of `state.h`, which has the argument. */
  enableHistory(clockTick: number): void {
    const nowTick = Math.min(clockTick, this.#maxTick)
    const history = this.#historyOffset() / 8
    if (Atomics.load(this.#words, history + openAt) === 1n) return
    this.#raise(this.#at / 8 + highAt, BigInt(nowTick))
    const end = this.#slot(this.#maxTick, this.#capacity - 1)
    const nowSlot = this.#slot(nowTick, 0)
    let word: bigint
    let next: bigint
    do {
      word = this.word()
      if (word === movedAway || isGivenBack(word)) return
      next = word <= nowSlot ? nowSlot + 1n : word < end ? word + 1n : word
      const wordTick = this.tickOf(next - 1n)
      this.#raise(history + floorAt, this.#slot(Math.max(wordTick, nowTick) + 1, 0))
    } while (Atomics.compareExchange(this.#words, this.#at / 8 + wordAt, word, next) !== word)
    Atomics.store(this.#words, history + openAt, 1n)
  }

  /**
   * Hands this key over to the native engine, which knows with which slot to go on before it is asked.
   *
   * @param raise - Makes sure that the other side issues nothing below a slot.
   */
  moveTo(raise: (slot: bigint) => void): void {
    for (;;) {
      const word = this.word()
      if (word === movedAway) return
      raise(isGivenBack(word) ? this.ceiling() : word)
      if (Atomics.compareExchange(this.#words, this.#at / 8 + wordAt, word, movedAway) === word) return
    }
  }

  /** Nothing below the slot is issued any more; `RaiseFloor` of `state.h`. Does nothing where the word is somewhere else. */
  raiseFloor(slot: bigint): void {
    for (;;) {
      const word = this.word()
      if (word === movedAway || isGivenBack(word)) return
      // Before the word: ticks below may hold ids that no mark knows of.
      this.#raiseHistoryFloor(slot)
      if (word >= slot || Atomics.compareExchange(this.#words, this.#at / 8 + wordAt, word, slot) === word) return
    }
  }

  /** The first slot that may not be issued; zero where there is no such bound. */
  ceiling(): bigint {
    return Atomics.load(this.#words, this.#at / 8 + ceilingAt)
  }

  raiseCeiling(slot: bigint): void {
    this.#raise(this.#at / 8 + ceilingAt, slot)
  }

  raiseHighTick(tick: number): void {
    this.#raise(this.#at / 8 + highAt, BigInt(tick))
  }

  /** The step of the claim by which the process holds the key; 0 where it holds none. */
  get claimStep(): number {
    return Atomics.load(this.#table.words32, this.#at / 4 + stepAt)
  }

  set claimStep(step: number) {
    Atomics.store(this.#table.words32, this.#at / 4 + stepAt, step)
  }

  /** The process holds no claim, unless another thread has made a later step. */
  forgetStep(step: number): void {
    Atomics.compareExchange(this.#table.words32, this.#at / 4 + stepAt, step, 0)
  }

  /** Counts the generators of all threads on this state; how many there are now. */
  countGenerators(change: 1 | -1): number {
    return Atomics.add(this.#table.words32, this.#at / 4 + generatorsAt, change) + change
  }

  /** Stops every thread at the word, and tells where that is; `undefined` where the word is somewhere else. */
  giveBack(): bigint | undefined {
    const times = Atomics.add(this.#table.words32, this.#at / 4 + timesGivenBackAt, 1)
    const sign = givenBack.from + BigInt((times >>> 0) % givenBack.count)
    for (;;) {
      const word = this.word()
      if (word === movedAway || isGivenBack(word)) return undefined
      if (Atomics.compareExchange(this.#words, this.#at / 8 + wordAt, word, sign) !== word) continue
      // What is given back is remembered as the ceiling. The next claim may have a lower one than this had, and ceilings are
      // only raised.
      Atomics.store(this.#words, this.#at / 8 + ceilingAt, word === 0n ? lowestCeiling : word)
      return word
    }
  }

  /** Goes on from a slot, or above what was given back; does nothing unless the word is `sign` still, by which it was. */
  takeUp(sign: bigint, slot: bigint): void {
    const given = this.ceiling()
    const next = slot > given ? slot : given
    // Another process may have counted meanwhile.
    this.#raiseHistoryFloor(next)
    Atomics.compareExchange(this.#words, this.#at / 8 + wordAt, sign, next)
  }

  #raiseHistoryFloor(slot: bigint): void {
    const history = Atomics.load(this.#table.words32, this.#at / 4 + historyAt)
    if (history !== 0) this.#raise(history / 8 + floorAt, slot)
  }

  #historyOffset(): number {
    const at = this.#at / 4 + historyAt
    const existing = Atomics.load(this.#table.words32, at)
    if (existing !== 0) return existing
    const fresh = this.#table.allocate((marksAt + historyTicks) * 8)
    const winner = Atomics.compareExchange(this.#table.words32, at, 0, fresh)
    return winner === 0 ? fresh : winner
  }

  /** Marks every tick that a run leaves behind; `History::Leave`. */
  #leave(history: number, word: bigint, firstTick: number, next: bigint): void {
    const lastTick = this.tickOf(next - 1n)
    if (word !== 0n && this.tickOf(word - 1n) < lastTick)
      this.#raise(this.#markOf(history, this.tickOf(word - 1n)), word)
    for (let tick = Math.max(firstTick, lastTick - historyTicks); tick < lastTick; tick++) {
      this.#raise(this.#markOf(history, tick), this.#slot(tick + 1, 0))
    }
  }

  #markOf(history: number, tick: number): number {
    return history + marksAt + (tick % historyTicks)
  }

  #raise(index: number, value: bigint): void {
    for (;;) {
      const seen = Atomics.load(this.#words, index)
      if (seen >= value || Atomics.compareExchange(this.#words, index, seen, value) === seen) return
    }
  }

  #slot(tick: number, sequence: number): bigint {
    return (BigInt(tick) << this.#bits) + BigInt(sequence)
  }

  #sequenceOf(slot: bigint): number {
    return Number(BigInt.asUintN(Number(this.#bits), slot))
  }
}
