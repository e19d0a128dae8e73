import type { Layout } from '../layout/index.js'
import { calendarEndMs, calendarStartMs, timeOfTexts, type UnitTexts, unitTexts } from '../pattern/calendar.js'
import { patternError } from '../pattern/pattern.js'

/** The times that the ids of a layout can have, in the calendar of an offset. */
export class Lifetime {
  readonly #layout: Layout
  readonly #offsetMinutes: number
  readonly #lastTick: number
  readonly #firstYear: number
  readonly #lastYear: number

  /** @throws RangeError `ERR_PATTERN_INVALID` if a year has not four digits */
  constructor(pattern: string, layout: Layout, offsetMinutes: number) {
    // One more than maxTick in a layout without a node: decode() reads ids of it, too.
    const lastTick = 2 ** layout.timestamp.bits - 1
    const { epochMs, tickMs } = layout
    const lastMs = epochMs + lastTick * tickMs
    if (epochMs < calendarStartMs(offsetMinutes) || lastMs > calendarEndMs(offsetMinutes)) {
      const times = [epochMs, lastMs].map((ms) => new Date(ms).toISOString())
      throw patternError(
        pattern,
        `a year has four digits, 0000 to 9999, and the times of layout '${layout.name}' go from ${times.join(' to ')}; give the layout another epoch, or its timestamp fewer bits`,
      )
    }
    this.#layout = layout
    this.#offsetMinutes = offsetMinutes
    this.#lastTick = lastTick
    this.#firstYear = Number(unitTexts(epochMs, offsetMinutes).yyyy)
    this.#lastYear = Number(unitTexts(lastMs, offsetMinutes).yyyy)
  }

  /** @throws RangeError `ERR_PATTERN_INVALID` if two digits do not tell the years apart */
  checkShortYears(pattern: string): void {
    if (this.#lastYear - this.#firstYear < 100) return
    throw patternError(
      pattern,
      `{yy} tells 100 years apart, and the times of layout '${this.#layout.name}' go from the year ${this.#firstYear} to ${this.#lastYear}; write {yyyy}`,
    )
  }

  /** Whether all years begin with the same two digits. */
  get isWithinCentury(): boolean {
    return Math.floor(this.#firstYear / 100) === Math.floor(this.#lastYear / 100)
  }

  /** The date and time of one of its moments. */
  textsOf(timeMs: number): UnitTexts {
    return unitTexts(timeMs, this.#offsetMinutes)
  }

  /**
   * Returns the time of the tick with these texts, in milliseconds since 1970; or why there is no such tick.
   *
   * @param texts - Enough units that no two ticks have all their texts in common.
   */
  tickWith(texts: Partial<UnitTexts>): number | string {
    const { yy, ...others } = texts
    const yyyy = others.yyyy ?? this.#longYear(yy as string)
    const startMs = timeOfTexts({ ...others, yyyy }, this.#offsetMinutes)
    if (startMs === undefined) return 'has a date or a time that does not exist'
    const { name, epochMs, tickMs } = this.#layout
    const tick = Math.ceil((startMs - epochMs) / tickMs)
    if (tick > this.#lastTick) return `is later than the last tick of layout '${name}'`
    const timeMs = epochMs + tick * tickMs
    if (timeMs >= epochMs) {
      const exact = this.textsOf(timeMs)
      if (Object.entries(texts).every(([unit, text]) => exact[unit as keyof UnitTexts] === text)) return timeMs
    }
    return startMs < epochMs
      ? `is earlier than the epoch of layout '${name}'`
      : `lies between two ticks of layout '${name}'`
  }

  /** Returns the first year, from the first year of the lifetime on, that ends with these digits. */
  #longYear(yy: string): string {
    const first = this.#firstYear
    return String(first + ((Number(yy) - (first % 100) + 100) % 100)).padStart(4, '0')
  }
}
