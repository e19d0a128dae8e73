import type { Shape } from './shape.ts'

/** Observes the numbers and writes of a world, and notes the first violation. */
export class Judge {
  violation: string | undefined
  issued = 0
  writes = 0
  /** A bound above all numbers that a record has given. */
  highest = 0n
  readonly #owners = new Map<bigint, string>()
  readonly #numbering: Shape['numbering']
  readonly #onViolation: () => void

  constructor({ numbering }: Pick<Shape, 'numbering'>, onViolation: () => void) {
    this.#numbering = numbering
    this.#onViolation = onViolation
  }

  /**
   * Checks a number that a generator has made.
   *
   * @param last - The previous number.
   */
  issues(who: string, number: bigint, last: bigint): void {
    this.issued++
    const { start, max, stride, offset } = this.#numbering
    const owner = this.#owners.get(number)
    if (owner !== undefined) this.#violate(`the number ${number} is issued twice, by ${owner} and ${who}`)
    this.#owners.set(number, who)
    if (number <= last) this.#violate(`${who}: ${number} is not above ${last}`)
    if (number < BigInt(start) || number > BigInt(max))
      this.#violate(`${who}: ${number} is not from ${start} to ${max}`)
    if (number % BigInt(stride) !== BigInt(offset)) {
      this.#violate(`${who}: ${number} mod ${stride} is not ${offset}`)
    }
    if (number >= this.highest) this.#violate(`${who}: ${number} was given by no record`)
  }

  /** Checks a write that the server has applied. */
  applied(next: bigint): void {
    this.writes++
    if (next > this.highest) this.highest = next
  }

  /** Checks a generator's claim that there are no more numbers. */
  overflows(who: string): void {
    const { max, stride, failoverGap } = this.#numbering
    if (this.highest + BigInt((failoverGap + 1) * stride) > BigInt(max)) return
    this.#violate(`${who} has no more numbers, and ${this.highest} is far below ${max}`)
  }

  hasNone(who: string, afterMs: number): void {
    this.#violate(`${who} has no numbers of a new segment ${afterMs / 1000} s after the faults have ended`)
  }

  /** Notes an error that must not occur. */
  fails(who: string, error: unknown): void {
    this.#violate(`${who} fails: ${error instanceof Error ? (error.stack ?? error.message) : error}`)
  }

  #violate(text: string): void {
    if (this.violation !== undefined) return
    this.violation = text
    this.#onViolation()
  }
}
