/**
 * The part of a `Temporal.Instant` that this package reads. The platform or a polyfill makes the object.
 *
 * @example
 * const midnight = { epochMilliseconds: 1793491200000, [Symbol.toStringTag]: 'Temporal.Instant' }
 * idsBetween(midnight, Infinity, layouts.twitter).first // 2116681624581046272n
 */
export interface Instant {
  /** Milliseconds since 1970, rounded down. */
  readonly epochMilliseconds: number
  /** The name by which it is recognised. */
  readonly [Symbol.toStringTag]: 'Temporal.Instant'
}

/**
 * Returns the milliseconds since 1970 of a Date or a `Temporal.Instant`, and any other value as it is. By
 * their names, because other realms and polyfills have classes of their own.
 */
export function toMs(time: unknown): unknown {
  const kind = Object.prototype.toString.call(time)
  if (kind === '[object Date]') return Number(time)
  return kind === '[object Temporal.Instant]' ? (time as Instant).epochMilliseconds : time
}
