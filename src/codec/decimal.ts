/** '000' to '999': three digits at a time cost no division by ten and no padding. */
const triples = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, '0'))

/** The digits below it are computed for each id, and those above are kept as text. */
const keptDigits = 1e9

/**
 * Writes ids in decimal. Ids that follow one another differ in their last digits, so the digits above the last three
 * are kept as text, and those above the last nine stay when the others change. A bigint's `toString` costs more than
 * making the id.
 */
export class DecimalWriter {
  /** Digits above the last nine, and the whole id without its last nine digits in two halves. */
  #upper = ''
  #baseHigh = -1
  #baseLow = 0
  /** All digits but the last three, for ids from here on. */
  #prefix = ''
  #prefixFrom = -1

  /** @param high, low - The id in two halves of 32 bits. */
  write(high: number, low: number): string {
    if (high === 0 && low < keptDigits) return String(low)
    // The last nine digits as a number, as long as the id is in the same 10^9 and the same upper half.
    let rest = high === this.#baseHigh ? low - this.#baseLow : -1
    if (rest < 0 || rest >= keptDigits) {
      rest = this.#rebase(high, low)
    }
    const offset = rest - this.#prefixFrom
    if (this.#prefixFrom >= 0 && offset >= 0 && offset < 1000) return this.#prefix + triples[offset]
    const last = rest % 1000
    const thousands = (rest - last) / 1000
    const middle = thousands % 1000
    this.#prefix = this.#upper + triples[(thousands - middle) / 1000] + triples[middle]
    this.#prefixFrom = rest - last
    return this.#prefix + triples[last]
  }

  /** Starts from this id; its last nine digits. */
  #rebase(high: number, low: number): number {
    const id = (BigInt(high) << 32n) | BigInt(low)
    const rest = Number(id % BigInt(keptDigits))
    const upper = id / BigInt(keptDigits)
    this.#upper = upper.toString()
    // May be negative, where the 10^9 began below this upper half.
    this.#baseLow = low - rest
    this.#baseHigh = high
    this.#prefixFrom = -1
    return rest
  }
}
