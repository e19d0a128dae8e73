/** One part in this many is lost while the wall clock is behind. */
const slew = 16

/**
 * Wall time carried by the monotonic clock; `SteadyTime` of `native/core/clock.h` in TypeScript.
 *
 * Forward it follows the wall clock at once (a suspended machine, a late first synchronisation). Where the wall clock
 * is behind, it goes on by 15/16 of real time until they meet, so it never goes back and never stands still for long.
 */
export class SteadyTime {
  #offsetMs = 0
  #slewedAtMs = 0
  #lastMs = Number.NEGATIVE_INFINITY

  /** @returns Milliseconds since 1970, with fractions, never less than before. */
  read(wallMs: number, monotonicMs: number): number {
    let now = this.#offsetMs + monotonicMs
    if (this.#lastMs === Number.NEGATIVE_INFINITY || wallMs >= now) {
      // Kept as an offset, not as a running sum: adding nanoseconds to 1.7e12 milliseconds would round them away.
      this.#offsetMs = wallMs - monotonicMs
      this.#slewedAtMs = monotonicMs
      now = wallMs
    } else if (monotonicMs - this.#slewedAtMs >= 1) {
      const share = (monotonicMs - this.#slewedAtMs) / slew
      this.#offsetMs -= Math.min(share, now - wallMs)
      this.#slewedAtMs = monotonicMs
      now = this.#offsetMs + monotonicMs
    }
    this.#lastMs = Math.max(now, this.#lastMs)
    return this.#lastMs
  }
}
