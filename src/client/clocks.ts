import type { Timing } from '../core/timing.js'

/** Time and chance, as a client uses them; injected, so that tests have clocks of their own. */
export interface Clocks extends Timing {
  /** Milliseconds since 1970. */
  wallMs(): number
  /** As `later`, but the process may end meanwhile. */
  background: Timing['later']
  /** From 0 to below 1. */
  random(): number
}
