/** How many writes in a row a process makes before it rests, in case that another one never gets in between. */
const maxRow = 32
/** How many rounds a rest has: enough to read a record and to write it. */
const restRounds = 3
/** How many rounds others are thought to be there after they were met. */
const crowdRounds = 200
/** How many rounds a process that has just written leaves to the others, at most, while they are there. */
const yieldRounds = 2
/** A round that took longer had to do with a fault. */
const maxRoundMs = 500

/**
 * When a process writes again. The one that has written last knows the record, and the others have to read it first. So on a
 * network of constant delay it would win for ever, and it is the winner that waits; the losers write at once. Waits are
 * measured in rounds, because a store may be near or far.
 */
export class Pace {
  readonly #random: () => number
  /** What the last call of the store took, in milliseconds. */
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

  /** A write has landed. */
  landed(tookMs: number): void {
    this.#roundMs = Math.min(tookMs, maxRoundMs)
    this.#hasLost = false
    this.#row++
  }

  /** Another process was faster. */
  conflicted(tookMs: number, nowMs: number): void {
    // A write, and the read of what it has met.
    this.#roundMs = Math.min(tookMs / 2, maxRoundMs)
    this.#hasLost = true
    this.#row = 0
    this.#crowdUntilMs = nowMs + crowdRounds * this.#roundMs
  }

  /** Milliseconds to wait before the next write; 0 for none. */
  pauseMs(nowMs: number): number {
    if (this.#hasLost) return 0
    if (nowMs < this.#crowdUntilMs) return this.#random() * yieldRounds * this.#roundMs
    if (this.#row < maxRow) return 0
    this.#row = 0
    return restRounds * this.#roundMs
  }
}
