import { isUnit, type Unit, units, unitTexts } from '../pattern/calendar.js'
import { type Part, parsePattern, patternError } from '../pattern/pattern.js'
import type { Reset } from './period.js'

const countPlaceholder = 'count'

/** The units of time that name a period. */
const namedBy: Readonly<Record<Reset, readonly Unit[]>> = {
  never: [],
  year: ['yyyy'],
  month: ['yyyy', 'MM'],
  day: ['yyyy', 'MM', 'dd'],
}

/** The texts of a counter's numbers. */
export class CounterText {
  /** The last count that fits. */
  readonly max: number
  /** Whether a text contains the time. */
  readonly hasTime: boolean
  readonly #parts: readonly Part[]
  readonly #offsetMinutes: number
  /** The index of the count among the parts. */
  readonly #countAt: number
  /** The least number of its digits. */
  readonly #width: number

  /**
   * @param pattern - `undefined` for the count alone.
   * @throws TypeError, RangeError `ERR_PATTERN_INVALID`
   */
  constructor(pattern: unknown, reset: Reset, offsetMinutes: number) {
    const parts = parsePattern(pattern === undefined ? `{${countPlaceholder}}` : pattern, [...units, countPlaceholder])
    if (pattern !== undefined) checkPlaceholders(pattern as string, parts, reset)
    this.#parts = parts
    this.#offsetMinutes = offsetMinutes
    this.hasTime = parts.some((part) => 'placeholder' in part && isUnit(part.placeholder))
    this.#countAt = parts.findIndex((part) => 'placeholder' in part && part.placeholder === countPlaceholder)
    const { width } = parts[this.#countAt] as { width?: number }
    this.#width = width ?? 1
    this.max = Math.min(10 ** (width ?? 16) - 1, Number.MAX_SAFE_INTEGER)
  }

  /** Makes the texts of one moment, given in milliseconds since 1970. */
  at(timeMs: number): (count: number) => string {
    const texts: Readonly<Record<string, string>> = this.hasTime ? unitTexts(timeMs, this.#offsetMinutes) : {}
    const joined = (parts: readonly Part[]) =>
      parts.map((part) => ('literal' in part ? part.literal : texts[part.placeholder])).join('')
    // A pattern has the count once.
    const before = joined(this.#parts.slice(0, this.#countAt))
    const after = joined(this.#parts.slice(this.#countAt + 1))
    return (count) => before + String(count).padStart(this.#width, '0') + after
  }
}

/**
 * Everything but the count has a constant width, so two moments or counts that differ in a placeholder have
 * two texts.
 */
function checkPlaceholders(pattern: string, parts: readonly Part[], reset: Reset): void {
  const placeholders = parts.map((part) => ('placeholder' in part ? part.placeholder : undefined))
  if (!placeholders.includes(countPlaceholder)) {
    throw patternError(pattern, 'it has no {count}, so all numbers would have the same text; add {count}, or {count:6}')
  }
  const needed = namedBy[reset]
  // Two digits name a year for a century.
  const isNamed = needed.every(
    (unit) => placeholders.includes(unit) || (unit === 'yyyy' && placeholders.includes('yy')),
  )
  if (isNamed) return
  throw patternError(
    pattern,
    `it does not name the ${reset}, and the counts begin anew with each ${reset}, so two numbers would have the same text; add {${needed.join('')}}`,
  )
}
