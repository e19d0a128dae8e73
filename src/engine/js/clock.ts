import type { Clock } from '../../core/timing.js'
import type { CoreSpec } from '../../state/engine.js'

/** The clocks of the platform that the engine reads. */
export type SystemClocks = Pick<Clock, 'wallMs' | 'monotonicMs'>

/**
 * The steady clock of this thread. All generators of the thread read this clock, so their ids ascend
 * together.
 */
let steady: SteadyTime | undefined

/** The clock that a spec names; milliseconds since 1970. */
export function clockFor({ clock }: CoreSpec, { wallMs, monotonicMs }: SystemClocks): () => number {
  if (clock === 'wall') return wallMs
  if (clock !== 'steady') return clock
  steady ??= new SteadyTime()
  const time = steady
  return () => Math.floor(time.read(wallMs(), monotonicMs()))
}

/** While the wall clock is behind, one part in this many is lost. */
const slew = 16

/**
 * Wall time carried by the monotonic clock; `SteadyTime` of `native/core/clock.h` in TypeScript.
 *
 * It follows the wall clock forward at once (a suspended machine, a late first synchronisation). While the
 * wall clock is behind, it runs at 15/16 of real time until they meet, so it never goes back and never stands
 * still for long.
 */
export class SteadyTime {
  #offsetMs = 0
  #slewedAtMs = 0
  #lastMs = Number.NEGATIVE_INFINITY

  /** @returns Milliseconds since 1970, with fractions, never less than before. */
  read(wallMs: number, monotonicMs: number): number {
    let now = this.#offsetMs + monotonicMs
    if (this.#lastMs === Number.NEGATIVE_INFINITY || wallMs >= now) {
      // An offset, not a running sum: adding nanoseconds to 1.7e12 milliseconds would round them away.
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
