import { fields32, fields64, type StateTable } from './state-table.js'
import { givenBackSign, isGivenBack } from './word.js'

/** The lowest ceiling that lets no slot be issued; 0 means that there is no ceiling. */
const lowestCeiling = 1n

/** What all threads share about the claim by which their process holds a key. */
export class SharedClaim {
  readonly #table: StateTable
  readonly #at32: number
  readonly #wordAt: number
  readonly #ceilingAt: number

  /** @param at - The record's offset in bytes. */
  constructor(table: StateTable, at: number) {
    this.#table = table
    this.#at32 = at / 4
    this.#wordAt = at / 8 + fields64.word
    this.#ceilingAt = at / 8 + fields64.claimCeiling
  }

  /** Number of the claim's step; 0 where the process holds none. */
  get step(): number {
    return Atomics.load(this.#table.words32, this.#at32 + fields32.claimStep)
  }

  set step(step: number) {
    Atomics.store(this.#table.words32, this.#at32 + fields32.claimStep, step)
  }

  /** The state word; 0 if the key was given back. */
  get word(): bigint {
    const word = Atomics.load(this.#table.words64, this.#wordAt)
    return isGivenBack(word) ? 0n : word
  }

  /** Replaces the step. Does nothing if it is no longer `from`: another thread has made a later one. */
  moveStep(from: number, to: number): void {
    Atomics.compareExchange(this.#table.words32, this.#at32 + fields32.claimStep, from, to)
  }

  /** The first slot that may not be issued; 0 where there is no such bound. */
  get ceiling(): bigint {
    return Atomics.load(this.#table.words64, this.#ceilingAt)
  }

  raiseCeiling(slot: bigint): void {
    this.#table.raise(this.#ceilingAt, slot)
  }

  /** Counts the generators of all threads on the key; how many there are now. */
  countGenerators(change: 1 | -1): number {
    return Atomics.add(this.#table.words32, this.#at32 + fields32.generators, change) + change
  }

  /** Stops every thread at the word, and returns that; `undefined` if the word was given back before. */
  giveBack(): bigint | undefined {
    const { words32, words64 } = this.#table
    const sign = givenBackSign(Atomics.add(words32, this.#at32 + fields32.timesGivenBack, 1))
    for (;;) {
      const word = Atomics.load(words64, this.#wordAt)
      if (isGivenBack(word)) return undefined
      if (Atomics.compareExchange(words64, this.#wordAt, word, sign) !== word) continue
      // The ceiling keeps what is given back. The next claim may have a lower ceiling than this one had, and ceilings are
      // only raised.
      Atomics.store(words64, this.#ceilingAt, word === 0n ? lowestCeiling : word)
      return word
    }
  }

  /** Goes on from a slot. Does nothing if the word is no longer `sign`. */
  takeUp(sign: bigint, slot: bigint): void {
    Atomics.compareExchange(this.#table.words64, this.#wordAt, sign, slot)
  }
}
