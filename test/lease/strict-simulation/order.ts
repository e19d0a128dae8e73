/** An answer, by the clock of one observer. */
export interface Answer {
  /** When its request was made. */
  readonly madeMs: number
  /** When it was given. */
  readonly givenMs: number
  /** Its least id. */
  readonly first: bigint
  /** Its largest id. */
  readonly last: bigint
}

/** An answer with an id that is not above all ids of an answer that was given before its request. */
export interface Inversion {
  readonly before: Answer
  readonly after: Answer
}

/**
 * Checks real-time order: if an answer was given before a request was made, its ids are
 * smaller. Answers are added in the order in which they were given.
 */
export class RealTimeOrder {
  /** The answers with the largest id so far, in the order in which they were given; both ascend. */
  readonly #largest: Answer[] = []
  readonly inversions: Inversion[] = []
  answers = 0

  add(answer: Answer): void {
    this.answers++
    const before = this.#largestGivenBefore(answer.madeMs)
    if (before !== undefined && before.last >= answer.first) this.inversions.push({ before, after: answer })
    const last = this.#largest.at(-1)
    if (last === undefined || answer.last > last.last) this.#largest.push(answer)
  }

  /** Forgets answers that no later request needs. @param madeMs - No open request was made before. */
  forget(madeMs: number): void {
    const kept = this.#indexOfFirst(madeMs) - 1
    if (kept > 0) this.#largest.splice(0, kept)
  }

  #largestGivenBefore(ms: number): Answer | undefined {
    return this.#largest[this.#indexOfFirst(ms) - 1]
  }

  /** The index of the first answer that was not given before a time, by bisection. */
  #indexOfFirst(ms: number): number {
    let [from, to] = [0, this.#largest.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#largest[middle] as Answer).givenMs < ms) from = middle + 1
      else to = middle
    }
    return from
  }
}
