import type { CoreSpec } from '../engine.js'
import { SteadyTime } from './steady-time.js'

/** The clocks of where the engine runs. */
export interface SystemClocks {
  /** The wall clock; milliseconds since 1970. */
  wallMs(): number
  monotonicMs(): number
}

/** One for all generators of the thread. */
const steady = new SteadyTime()

/** The clock of a spec; milliseconds since 1970. */
export function clockFor({ clock }: CoreSpec, { wallMs, monotonicMs }: SystemClocks): () => number {
  if (clock === 'wall') return wallMs
  return clock === 'steady' ? () => Math.floor(steady.read(wallMs(), monotonicMs())) : clock
}
