/** How many writes in a row a process makes without a rest in which another one, which never gets in between, has its turn. */
const maxRow = 32
/** How many rounds a rest has: enough to read a record and to write it. */
const restRounds = 3
/** How many rounds others are thought to be there after they were met. */
const crowdRounds = 200
/** How far the rounds are drawn from at most, after several conflicts. */
const maxSpreadRounds = 16
/** From the so-and-so-many-th conflict on, a process that has waited for long goes before those that have not. */
const impatientAfter = 6

/**
 * When a process writes again. The one that has written last knows the record, and the others have to read it first, so without
 * pauses it would win for ever. Pauses are measured in rounds, because a store may be near or far.
 */
export class Pace {
  readonly #random: () => number
  /** What a write takes that is answered at once, in milliseconds. */
  #roundMs = 0
  /** Conflicts since the last write that has landed. */
  #conflicts = 0
  #row = 0
  #crowdUntilMs = Number.NEGATIVE_INFINITY

  /** @param random - From 0 to below 1. */
  constructor(random: () => number) {
    this.#random = random
  }

  landed(tookMs: number, nowMs: number): void {
    this.#measure(tookMs)
    if (this.#conflicts > 0) this.#meetOthers(nowMs)
    this.#conflicts = 0
    this.#row++
  }

  conflicted(tookMs: number, nowMs: number): void {
    // A write, and the read of what it has met.
    this.#measure(tookMs / 2)
    this.#meetOthers(nowMs)
    this.#conflicts++
    this.#row = 0
  }

  /** Milliseconds to wait before the next write; 0 for none. */
  pauseMs(nowMs: number): number {
    return Math.min(this.#pauseRounds(nowMs) * this.#roundMs, 1000)
  }

  #pauseRounds(nowMs: number): number {
    if (this.#conflicts === 0) {
      if (nowMs < this.#crowdUntilMs) return this.#random() * maxSpreadRounds
      if (this.#row < maxRow) return 0
      this.#row = 0
      return restRounds
    }
    if (this.#conflicts === 1 || this.#conflicts >= impatientAfter) return this.#random() * 2
    return this.#random() * Math.min(2 ** this.#conflicts, maxSpreadRounds)
  }

  #measure(tookMs: number): void {
    this.#roundMs = this.#roundMs === 0 ? tookMs : this.#roundMs + (tookMs - this.#roundMs) / 8
  }

  #meetOthers(nowMs: number): void {
    this.#crowdUntilMs = nowMs + crowdRounds * this.#roundMs
  }
}
