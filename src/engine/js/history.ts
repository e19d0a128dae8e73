import type { StateTable } from '../../state/table.js'
import type { SlotRange, Slots } from '../slots.js'

/** Ticks whose marks a history remembers; as in `native/core/history.h`. */
const historyTicks = 1024

/** The layout of a history, in units of 8 bytes: 1 once it may be used, the floor (a slot), the marks. */
const openAt = 0
const floorAt = 1
const marksAt = 2

/**
 * The marks by which `onRollback: 'reuse'` finds slots that were never issued: the first free slot of each of
 * the last 1 024 ticks. `native/core/history.h`, which has the argument, in TypeScript.
 */
export class History {
  readonly #table: StateTable
  readonly #at: number
  readonly #slots: Slots

  /** @param offset - The history's offset in the table, in bytes. */
  constructor(table: StateTable, offset: number, slots: Slots) {
    this.#table = table
    this.#at = offset / 8
    this.#slots = slots
  }

  static allocate(table: StateTable): number {
    return table.allocate((marksAt + historyTicks) * 8)
  }

  get isOpen(): boolean {
    return Atomics.load(this.#table.words64, this.#at + openAt) === 1n
  }

  open(): void {
    Atomics.store(this.#table.words64, this.#at + openAt, 1n)
  }

  /** Raises the first slot that may be handed out again. */
  raiseFloor(slot: bigint): void {
    this.#table.raise(this.#at + floorAt, slot)
  }

  /**
   * Marks every tick that the state word leaves behind when it moves from `word` to `next`; `History::Leave`.
   *
   * @param firstTick - Tick of the first slot that the word passes.
   */
  leave(word: bigint, firstTick: number, next: bigint): void {
    const slots = this.#slots
    const lastTick = slots.tickOf(next - 1n)
    if (word !== 0n && slots.tickOf(word - 1n) < lastTick) {
      this.#table.raise(this.#markOf(slots.tickOf(word - 1n)), word)
    }
    for (let tick = Math.max(firstTick, lastTick - historyTicks); tick < lastTick; tick++) {
      this.#table.raise(this.#markOf(tick), slots.at(tick + 1, 0))
    }
  }

  /**
   * Writes up to `want` slots of a past tick that were never issued into `range`; false if there are none.
   */
  takeUnused(nowTick: number, want: number, range: SlotRange): boolean {
    const words = this.#table.words64
    const begin = this.#slots.at(nowTick, 0)
    const end = this.#slots.at(nowTick + 1, 0)
    if (!this.isOpen || begin < Atomics.load(words, this.#at + floorAt)) return false
    const mark = this.#markOf(nowTick)
    for (;;) {
      const seen = Atomics.load(words, mark)
      // An older mark: the word skipped this tick. A younger mark: this tick's mark was replaced, so its
      // issued slots are not known, and it counts as full. Math.max takes no bigints.
      const from = seen < begin ? begin : seen
      if (from >= end) return false
      const count = Math.min(want, Number(end - from))
      if (Atomics.compareExchange(words, mark, seen, from + BigInt(count)) === seen) {
        range.tick = nowTick
        range.sequence = Number(from - begin)
        range.count = count
        return true
      }
    }
  }

  #markOf(tick: number): number {
    return this.#at + marksAt + (tick % historyTicks)
  }
}
