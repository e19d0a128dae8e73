import type { Clock } from '../core/timing.js'

/** The longest window: an hour. No ceiling is set further ahead of the store's clock. */
export const maxWindowMs = 3_600_000

/** The options of a lease that the protocol needs. */
export interface LeaseRules {
  readonly windowMs: number
  /** How far the local clock may be from the store's. */
  readonly maxClockSkewMs: number
  /** Whether the store never loses a write that it has acknowledged. */
  readonly durable: boolean
  readonly owner: string
  /** How long attempts at one write may go on. */
  readonly writeMs: number
}

/** What the protocol needs of the platform; injected, so that a simulation runs it in virtual time. */
export interface LeaseClock extends Pick<Clock, 'wallMs' | 'monotonicMs' | 'random'> {
  /** A text that no other call returns. */
  newToken(): string
  /** Called before a wait until the life of the server is believed; `untilMs` is the store's time. */
  onWait?(untilMs: number): void
}
