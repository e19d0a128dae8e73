const dayMs = 24 * 3_600_000

const units = [
  ['year', 365.25 * dayMs],
  ['month', (365.25 / 12) * dayMs],
  ['day', dayMs],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/**
 * Writes numbers and times in a language. Each formatter is made at its first use, because making all four
 * takes as long as the rest of the page's start.
 */
export class Format {
  readonly #locale: string
  #number: Intl.NumberFormat | undefined
  #day: Intl.DateTimeFormat | undefined
  #local: Intl.DateTimeFormat | undefined
  #relative: Intl.RelativeTimeFormat | undefined

  readonly #units = new Map<string, Intl.NumberFormat>()

  /** @param locale - A language, or a form of it: `en-GB`. */
  constructor(locale: string) {
    this.#locale = locale
  }

  number(value: number | bigint): string {
    this.#number ??= new Intl.NumberFormat(this.#locale)
    return this.#number.format(value)
  }

  percent(part: number): string {
    return part.toLocaleString(this.#locale, { style: 'percent' })
  }

  /** Writes a day in UTC. */
  day(ms: number): string {
    this.#day ??= new Intl.DateTimeFormat(this.#locale, { dateStyle: 'long', timeZone: 'UTC' })
    return this.#day.format(ms)
  }

  /** Writes a time in the time zone of the browser. */
  local(ms: number): string {
    this.#local ??= new Intl.DateTimeFormat(this.#locale, {
      weekday: 'short',
      year: 'numeric',
      month: 'long',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
      timeZoneName: 'short',
    })
    return this.#local.format(ms)
  }

  /** Writes the distance of a time from now: `10 years ago`. */
  relative(ms: number, nowMs: number): string {
    const distance = ms - nowMs
    const [unit, unitMs] = units.find(([, unitMs]) => Math.abs(distance) >= unitMs) ?? ['second', 1000]
    this.#relative ??= new Intl.RelativeTimeFormat(this.#locale, { numeric: 'always' })
    return this.#relative.format(Math.trunc(distance / unitMs), unit)
  }

  /** Writes a duration in at most two units: `2 days, 3 hours`. Below a second, the unit is milliseconds. */
  duration(ms: number): string {
    const sign = ms < 0 ? '−' : ''
    let rest = Math.abs(ms)
    if (rest < 1000) return sign + this.#unit(rest, 'millisecond')
    const first = units.findIndex(([, unitMs]) => rest >= unitMs)
    const parts: string[] = []
    for (const [unit, unitMs] of units.slice(first, first + 2)) {
      const count = unit === 'second' ? Math.floor(rest) / 1000 : Math.floor(rest / unitMs)
      if (count > 0) parts.push(this.#unit(count, unit))
      rest -= count * unitMs
    }
    return sign + parts.join(' ')
  }

  #unit(count: number, unit: string): string {
    let format = this.#units.get(unit)
    if (format === undefined) {
      const options = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 3 } as const
      format = new Intl.NumberFormat(this.#locale, options)
      this.#units.set(unit, format)
    }
    return format.format(count)
  }
}

/** Writes a time in UTC, in the same form in every language. */
export function utc(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString()
}
