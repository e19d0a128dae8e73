/**
 * '000' to '999' as three character codes of 8 bits each: three digits at a time cost no division by ten and
 * no padding.
 */
const triples = new Uint32Array(1000)

/** The digits below it are computed for each id, and those above are kept. */
const keptDigits = 1e9

const fromCharCode = /* @__PURE__ */ (() => String.fromCharCode)()

/**
 * Character codes, and not text: V8 makes a rope of two strings that are together 13 characters or longer,
 * and the reader of a rope pays for the copy that was saved. The length tells which elements {@link textOf}
 * reads.
 */
type Codes = number[] & Record<0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15, number>

/**
 * Writes ids in decimal. Ids that follow one another differ in their last digits, so the digits above the
 * last three are kept, and the digits above the last nine stay when the others change. A bigint's `toString`
 * costs more than making the id.
 */
export class DecimalWriter {
  /** All digits but the last three, for ids from `#codesFrom` on. */
  #codes = [] as unknown as Codes
  #codesFrom = -1
  /** The whole id without its last nine digits, in two halves. */
  #baseHigh = -1
  #baseLow = 0

  constructor() {
    // Not when the package is imported, which most often is followed by no such text.
    if (triples[0] === 0) fillTriples()
  }

  /** @param high, low - The id in two halves of 32 bits. */
  write(high: number, low: number): string {
    if (high === 0 && low < keptDigits) return String(low)
    // The last nine digits as a number, as long as the id is in the same 10^9 and the same upper half.
    let rest = high === this.#baseHigh ? low - this.#baseLow : -1
    if (rest < 0 || rest >= keptDigits) rest = this.#rebase(high, low)
    let offset = rest - this.#codesFrom
    if (this.#codesFrom < 0 || offset < 0 || offset >= 1000) offset = this.#turn(rest)
    return textOf(this.#codes, triples[offset] as number)
  }

  /** Goes on from the thousand that these last nine digits are in; how far into it they are. */
  #turn(rest: number): number {
    const offset = rest % 1000
    const thousands = (rest - offset) / 1000
    const lower = thousands % 1000
    setTriple(this.#codes, this.#codes.length - 6, (thousands - lower) / 1000)
    setTriple(this.#codes, this.#codes.length - 3, lower)
    this.#codesFrom = rest - offset
    return offset
  }

  /** Starts from this id; its last nine digits. */
  #rebase(high: number, low: number): number {
    const id = (BigInt(high) << 32n) | BigInt(low)
    const rest = Number(id % BigInt(keptDigits))
    const upper = String(id / BigInt(keptDigits))
    this.#codes = Array.from(`${upper}000000`, (digit) => code(Number(digit))) as Codes
    // Negative if the 10^9 began below this upper half.
    this.#baseLow = low - rest
    this.#baseHigh = high
    this.#codesFrom = -1
    return rest
  }
}

function fillTriples(): void {
  for (let i = 0; i < 1000; i++) {
    const tens = Math.floor(i / 10)
    triples[i] = (code(Math.floor(i / 100)) << 16) | (code(tens % 10) << 8) | code(i % 10)
  }
}

function code(digit: number): number {
  return 48 + digit
}

function setTriple(codes: number[], at: number, value: number): void {
  const triple = triples[value] as number
  codes[at] = triple >> 16
  codes[at + 1] = (triple >> 8) & 255
  codes[at + 2] = triple & 255
}

/**
 * Written out for 18 and 19 digits, which most ids have: with an array, as in the last line, a call takes 33
 * to 35 ns instead of 28.
 */
function textOf(c: Codes, last: number): string {
  const x = last >> 16
  const y = (last >> 8) & 255
  const z = last & 255
  // biome-ignore format: one line for each length
  switch (c.length) {
    case 15: return fromCharCode(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12], c[13], c[14], x, y, z)
    case 16: return fromCharCode(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12], c[13], c[14], c[15], x, y, z)
    default: return fromCharCode(...c, x, y, z)
  }
}
