import { fields32, fields64, type StateTable } from '../../state/table.js'

/**
 * Values of a state word whose key was given back. The process has to claim the key again before it reserves.
 * Each release uses the next value, so a slow thread takes up only the value that it has read. No layout has
 * so high a slot: of 64 bits of timestamp and sequence, the sequence has 11 at least.
 */
const givenBack = { from: 0xffff_ffff_ffff_fc00n, count: 1024 } as const

export function isGivenBack(word: bigint): boolean {
  return word >= givenBack.from
}

/** @param times - How often the key was given back before; 32 bits, which may have wrapped around. */
function givenBackSign(times: number): bigint {
  return givenBack.from + BigInt((times >>> 0) % givenBack.count)
}

/** The lowest ceiling that lets no slot be issued; 0 means that there is no ceiling. */
const lowestCeiling = 1n

/**
 * The fields of a state that describe the claim by which the process holds the key. All threads share them.
 */
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

  /** The claim's step, as {@link Held} says. It stays when the key is given back or the claim is lost. */
  get step(): number {
    return Atomics.load(this.#table.words32, this.#at32 + fields32.claimStep)
  }

  /** The state word, also if the key was given back at that word. */
  get word(): bigint {
    const word = Atomics.load(this.#table.words64, this.#wordAt)
    return isGivenBack(word) ? this.ceiling : word
  }

  /**
   * Replaces the step. False if the step is no longer `from`, because another thread has made a later step.
   */
  moveStep(from: number, to: number): boolean {
    return Atomics.compareExchange(this.#table.words32, this.#at32 + fields32.claimStep, from, to) === from
  }

  /** The first slot that may not be issued; 0 if there is no ceiling. */
  get ceiling(): bigint {
    return Atomics.load(this.#table.words64, this.#ceilingAt)
  }

  raiseCeiling(slot: bigint): void {
    this.#table.raise(this.#ceilingAt, slot)
  }

  /** Changes the number of generators that all threads have on the key, and returns the new number. */
  countGenerators(change: 1 | -1): number {
    return Atomics.add(this.#table.words32, this.#at32 + fields32.generators, change) + change
  }

  /** Stops every thread at the word, and returns the word; `undefined` if it was given back before. */
  giveBack(): bigint | undefined {
    const { words32, words64 } = this.#table
    const sign = givenBackSign(Atomics.add(words32, this.#at32 + fields32.timesGivenBack, 1))
    for (;;) {
      const word = Atomics.load(words64, this.#wordAt)
      if (isGivenBack(word)) return undefined
      if (Atomics.compareExchange(words64, this.#wordAt, word, sign) !== word) continue
      // The ceiling keeps the word. The next claim may have a lower ceiling than this claim had, and a
      // ceiling is only raised.
      Atomics.store(words64, this.#ceilingAt, word === 0n ? lowestCeiling : word)
      return word
    }
  }

  /** Continues from a slot. False if the word is no longer `sign`. */
  takeUp(sign: bigint, slot: bigint): boolean {
    return Atomics.compareExchange(this.#table.words64, this.#wordAt, sign, slot) === sign
  }
}
