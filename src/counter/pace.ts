/** Writes in a row after which a process rests, in case another process never gets in between. */
const maxRow = 32
/** Rounds of a rest: enough to read a record and to write it. */
const restRounds = 3
/** Rounds for which other processes are assumed to be there after a conflict. */
const crowdRounds = 200
/** The most rounds that a process leaves to the others after a write, while they are there. */
const yieldRounds = 2
/** A round that took longer met a fault. */
const maxRoundMs = 500

/**
 * Decides when a process writes again. The process that has written last knows the record, and the others
 * have to read it first. On a network of constant delay it would win for ever, so the winner waits, and the
 * losers write at once. Waits are measured in rounds, because a store may be near or far.
 */
export class Pace {
  readonly #random: () => number
  /** Milliseconds that the last call of the store took. */
  #roundMs = 0
  /** Whether another process has written before its last write. */
  #hasLost = false
  /** Writes that have landed since the last conflict or rest. */
  #row = 0
  #crowdUntilMs = Number.NEGATIVE_INFINITY

  /** @param random - From 0 to below 1. */
  constructor(random: () => number) {
    this.#random = random
  }

  /** Notes that a write has landed. */
  landed(tookMs: number): void {
    this.#roundMs = Math.min(tookMs, maxRoundMs)
    this.#hasLost = false
    this.#row++
  }

  /** Notes that another process was faster. */
  conflicted(tookMs: number, nowMs: number): void {
    // A write, and the read of the record that it met.
    this.#roundMs = Math.min(tookMs / 2, maxRoundMs)
    this.#hasLost = true
    this.#row = 0
    this.#crowdUntilMs = nowMs + crowdRounds * this.#roundMs
  }

  /** Returns the milliseconds to wait before the next write. */
  pauseMs(nowMs: number): number {
    if (this.#hasLost) return 0
    if (nowMs < this.#crowdUntilMs) return this.#random() * yieldRounds * this.#roundMs
    if (this.#row < maxRow) return 0
    this.#row = 0
    return restRounds * this.#roundMs
  }
}
