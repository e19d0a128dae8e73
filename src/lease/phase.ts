/** The present activity of a lease. */
export type Phase =
  /** Acquires its first node. */
  | 'acquiring'
  /** Waits for the time of the next renewal. The node may lapse meanwhile. */
  | 'held'
  /** Waits to try again, because the store has failed. */
  | 'failing'
  /** Renews its node. */
  | 'renewing'
  /** Acquires a node anew, because its node has lapsed, is lost, or belongs to another machine. */
  | 'moving'
  /** Is sealed, and gives its node back until `resume()`. */
  | 'parking'
  | 'parked'
  /** Is sealed, and acquires a node for `resume()`. */
  | 'resuming'
  /** Is sealed, and gives its node back for good. */
  | 'releasing'
  | 'released'
  /** Is sealed, because no node could be acquired. */
  | 'ended'

/** An event of a lease: a call of the program, or the outcome of its own work. */
export type PhaseEvent =
  | 'park'
  | 'resume'
  | 'release'
  /** The time of a renewal, or of another attempt, has come. */
  | 'due'
  /** A generator or a hook has found that the machine may be a copy. */
  | 'woken'
  /** The store has acknowledged a higher ceiling. */
  | 'renewed'
  /** The node cannot be renewed. */
  | 'gone'
  /** A node was acquired. */
  | 'acquired'
  /** The store has failed, and another attempt may succeed. */
  | 'failed'
  /** Another attempt would fail as well. */
  | 'refused'
  /** The attempt to give the node back has ended. */
  | 'given back'

const calls = { park: 'parking', resume: 'resuming', release: 'releasing' } as const

const table: Readonly<Record<Phase, Readonly<Partial<Record<PhaseEvent, Phase>>>>> = {
  acquiring: { acquired: 'held' },
  held: { ...calls, due: 'renewing', woken: 'renewing' },
  failing: { ...calls, due: 'renewing' },
  renewing: { ...calls, renewed: 'held', gone: 'moving', failed: 'failing', refused: 'ended' },
  moving: { ...calls, acquired: 'held', failed: 'failing', refused: 'ended' },
  parking: { resume: 'resuming', release: 'releasing', 'given back': 'parked' },
  parked: { resume: 'resuming', release: 'releasing' },
  resuming: { park: 'parking', release: 'releasing', acquired: 'held', failed: 'parked' },
  releasing: { 'given back': 'released' },
  released: {},
  ended: {},
}

/** Returns the phase after an event; `undefined` if the event changes nothing in this phase. Pure. */
export function next(phase: Phase, event: PhaseEvent): Phase | undefined {
  return table[phase][event]
}

/** Whether the program waits for the work of this phase, so that its timers keep the process alive. */
export function isAwaited(phase: Phase): boolean {
  return phase === 'acquiring' || phase === 'parking' || phase === 'resuming' || phase === 'releasing'
}

/** Whether `park()` or `resume()` has stopped the generators, until `resume()` has acquired a node. */
export function isParked(phase: Phase): boolean {
  return phase === 'parking' || phase === 'parked' || phase === 'resuming'
}

/** Describes a phase for people. @param isExpired - Whether the ceiling has passed. */
export function describePhase(phase: Phase, isExpired: boolean): 'held' | 'expired' | 'parked' | 'released' | 'ended' {
  if (isParked(phase)) return 'parked'
  if (phase === 'releasing') return 'released'
  if (phase === 'released' || phase === 'ended') return phase
  return isExpired ? 'expired' : 'held'
}
