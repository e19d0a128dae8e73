import type { Held } from '../../state/claims.js'
import type { SequenceStartMode } from '../../state/engine.js'
import { fields32, fields64, type StateTable } from '../../state/table.js'
import { type SlotRange, Slots } from '../slots.js'
import { History } from './history.js'

/**
 * Chooses the first sequence number of a new tick, bit for bit as `native/core/sequence_start.h` does. The
 * number lies in the lower half of the sequence, so at least half of a tick's capacity is left.
 */
export class SequenceStart {
  readonly #isRandom: boolean
  readonly #half: number
  #random: number

  constructor(mode: Exclude<SequenceStartMode, 'zero'>, seed: number, sequenceBits: number) {
    this.#isRandom = mode === 'random'
    this.#half = sequenceBits === 1 ? 2 : 2 ** (sequenceBits - 1)
    this.#random = seed === 0 ? 1 : seed >>> 0
  }

  /** @param next - Sequence number of the state word. */
  first(next: number): number {
    if (!this.#isRandom) return next < this.#half ? next : 0
    // Marsaglia's xorshift32 (Journal of Statistical Software 8/14, 2003).
    this.#random ^= this.#random << 13
    this.#random ^= this.#random >>> 17
    this.#random ^= this.#random << 5
    this.#random >>>= 0
    return this.#random % this.#half
  }
}

/** The result of a reservation. `ceiling`: the next slot is at the ceiling or above. */
export type Reserved = 'reserved' | 'ahead' | 'ceiling'

/**
 * The state of one node, which all threads of the process share: the state word (the first free slot) and the
 * fields beside it. `native/core/state.h` in TypeScript, over Atomics. Slots are bigints here: a reservation
 * takes many slots, so this is not the hot path.
 */
export class State implements Held {
  /** The slots that the last call with the result `reserved` took. */
  readonly range: SlotRange = { tick: 0, sequence: 0, count: 0 }
  readonly #table: StateTable
  readonly #words: BigUint64Array
  readonly #at: number
  readonly #slots: Slots
  readonly #maxTick: number
  #knownHistory: History | undefined

  /** @param at - The record's offset in bytes. */
  constructor(table: StateTable, at: number, sequenceBits: number, maxTick: number) {
    this.#table = table
    this.#words = table.words64
    this.#at = at
    this.#slots = new Slots(sequenceBits)
    this.#maxTick = maxTick
  }

  get word(): bigint {
    return Atomics.load(this.#words, this.#at / 8 + fields64.word)
  }

  /** The latest tick that the clock has shown to a reservation. */
  highTick(): number {
    return Number(Atomics.load(this.#words, this.#at / 8 + fields64.highTick))
  }

  raiseHighTick(tick: number): void {
    this.#raise(fields64.highTick, BigInt(tick))
  }

  /** The latest tick to which observed ids have led the word, with the ids made from there on. */
  observedTick(): number {
    return Number(Atomics.load(this.#words, this.#at / 8 + fields64.observedTick))
  }

  raiseObservedTick(tick: number): void {
    this.#raise(fields64.observedTick, BigInt(tick))
  }

  /** The first slot that no generator may issue; 0 if there is no ceiling. */
  get ceiling(): bigint {
    return Atomics.load(this.#words, this.#at / 8 + fields64.ceiling)
  }

  raiseCeiling(slot: bigint): void {
    this.#raise(fields64.ceiling, slot)
  }

  /** The link of the claim by which the process holds the key, as {@link Held} says. It stays afterwards. */
  get link(): number {
    return Atomics.load(this.#table.words32, this.#at / 4 + fields32.link)
  }

  /**
   * Replaces the link. False if the link is no longer `from`, because another thread has made a later link.
   */
  moveLink(from: number, to: number): boolean {
    return Atomics.compareExchange(this.#table.words32, this.#at / 4 + fields32.link, from, to) === from
  }

  /** Counts a generator of this process on the key. */
  enter(): void {
    Atomics.add(this.#table.words32, this.#at / 4 + fields32.users, 2)
  }

  /** Whether the process holds the key's claim. It does not lose the claim while it has a generator. */
  get isClaimed(): boolean {
    return (Atomics.load(this.#table.words32, this.#at / 4 + fields32.users) & 1) === 1
  }

  markClaimed(): void {
    Atomics.or(this.#table.words32, this.#at / 4 + fields32.users, 1)
  }

  /**
   * Ends a generator of this process. The last generator takes the mark of the claim with it, in one
   * exchange: a generator that another thread opens afterwards finds no mark, and makes a link before its
   * first id.
   *
   * @returns The link to give back; 0 if there is none, or other generators go on.
   */
  leave(): number {
    const at = this.#at / 4 + fields32.users
    for (;;) {
      const users = Atomics.load(this.#table.words32, at)
      // Read before the exchange: a link that another thread makes afterwards is not this generator's.
      const { link } = this
      const isLast = users === 3
      const rest = isLast ? 0 : users - 2
      if (Atomics.compareExchange(this.#table.words32, at, users, rest) === users) return isLast ? link : 0
    }
  }

  tickOf(slot: bigint): number {
    return this.#slots.tickOf(slot)
  }

  sequenceOf(slot: bigint): number {
    return this.#slots.sequenceOf(slot)
  }

  /** Whether the next slot at `nowTick` is at the ceiling or above, and the layout still has that slot. */
  isAbove(ceiling: bigint, word: bigint, nowTick: number): boolean {
    const nowSlot = this.#slots.at(nowTick, 0)
    const next = word > nowSlot ? word : nowSlot
    return next >= ceiling && this.tickOf(next) <= this.#maxTick
  }

  /**
   * Reserves between one and `want` slots, none beyond `limitTick`, all of one tick if `oneTick`.
   *
   * @param start - The start of a new tick's sequence; `undefined` for 0.
   */
  reserve(
    nowTick: number,
    limitTick: number,
    want: number,
    oneTick: boolean,
    start: SequenceStart | undefined,
  ): Reserved {
    const slots = this.#slots
    const limit = Math.min(limitTick, this.#maxTick)
    const nowSlot = slots.at(nowTick, 0)
    this.raiseHighTick(nowTick)
    for (;;) {
      const { word } = this
      const passed = word <= nowSlot
      const tick = passed ? nowTick : slots.tickOf(word)
      const sequence = !passed ? slots.sequenceOf(word) : start === undefined ? 0 : start.first(slots.sequenceOf(word))
      if (tick > limit) return 'ahead'
      const room = (oneTick ? 1 : limit - tick + 1) * slots.capacity - sequence
      const first = slots.at(tick, sequence)
      const { ceiling } = this
      if (ceiling !== 0n && first >= ceiling) return 'ceiling'
      const count = Math.min(want, room, ceiling === 0n ? room : Number(ceiling - first))
      const next = first + BigInt(count)
      this.#history()?.leave(word, tick, next)
      if (this.#move(word, next)) {
        this.range.tick = tick
        this.range.sequence = sequence
        this.range.count = count
        // Ids that a policy allows ahead of the clock lead on from an observed id.
        if (limitTick > nowTick && this.observedTick() > nowTick) this.raiseObservedTick(slots.tickOf(next - 1n))
        return 'reserved'
      }
    }
  }

  /** Reserves up to `want` slots of the past tick `nowTick` that were never issued. */
  reserveUnused(nowTick: number, want: number): Reserved {
    const { word } = this
    const history = this.#history()
    if (word === 0n || this.tickOf(word - 1n) <= nowTick || history === undefined) return 'ahead'
    return history.takeUnused(nowTick, want, this.range) ? 'reserved' : 'ahead'
  }

  /** Keeps marks from now on. `[history]` of docs/memory-order.md proves that this is safe. */
  enableHistory(clockTick: number): void {
    const nowTick = Math.min(clockTick, this.#maxTick)
    const history = this.#history() ?? this.#makeHistory()
    if (history.isOpen) return
    this.raiseHighTick(nowTick)
    const slots = this.#slots
    const end = slots.at(this.#maxTick, slots.capacity - 1)
    const nowSlot = slots.at(nowTick, 0)
    let word: bigint
    let next: bigint
    do {
      word = this.word
      next = word <= nowSlot ? nowSlot + 1n : word < end ? word + 1n : word
      const wordTick = slots.tickOf(next - 1n)
      history.raiseFloor(slots.at(Math.max(wordTick, nowTick) + 1, 0))
    } while (!this.#move(word, next))
    history.open()
  }

  /**
   * Prevents reservations below a slot from now on, and returns the word as it was before; `RaiseFloor` of
   * `state.h`.
   */
  raiseFloor(slot: bigint): bigint {
    for (;;) {
      const { word } = this
      // Before the word moves, because ticks below the slot may have ids without a mark.
      this.#history()?.raiseFloor(slot)
      if (word >= slot || this.#move(word, slot)) return word
    }
  }

  /** Prevents reservations below a slot, to which an observed id leads. */
  exceed(slot: bigint): void {
    // Before the word, so that a thread that reads the word knows why it is ahead of the clock.
    this.raiseObservedTick(this.tickOf(slot))
    this.raiseFloor(slot)
  }

  #move(word: bigint, next: bigint): boolean {
    return Atomics.compareExchange(this.#words, this.#at / 8 + fields64.word, word, next) === word
  }

  #raise(field: number, value: bigint): void {
    this.#table.raise(this.#at / 8 + field, value)
  }

  /** The history, which any thread may have made. Once made, it stays. */
  #history(): History | undefined {
    if (this.#knownHistory === undefined) {
      const offset = Atomics.load(this.#table.words32, this.#at / 4 + fields32.history)
      if (offset !== 0) this.#knownHistory = new History(this.#table, offset, this.#slots)
    }
    return this.#knownHistory
  }

  #makeHistory(): History {
    const fresh = History.allocate(this.#table)
    const winner = Atomics.compareExchange(this.#table.words32, this.#at / 4 + fields32.history, 0, fresh)
    return new History(this.#table, winner === 0 ? fresh : winner, this.#slots)
  }
}
