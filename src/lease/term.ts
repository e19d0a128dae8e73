import type { Clock } from '../core/timing.js'

/** The clocks of a term. */
export type TermClock = Pick<Clock, 'monotonicMs' | 'wallMs'>

/** The time before a call of the store, by both clocks. */
export interface Moment {
  readonly monotonicMs: number
  readonly wallMs: number
}

/** The part of a window by which the clocks of two hosts may drift apart meanwhile: 1 %. */
const drift = 0.01

export function readClocks(clock: TermClock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() }
}

/**
 * The time for which a strict lease has its node: no other strict lease takes the node before this time is
 * over, whatever the wall clocks show (docs/order-proof.md, "Strict order"). A lease begins another term when
 * it acquires its node anew.
 *
 * @example
 * const lease = await acquireLease({ store, strict: true })
 * const ids = createGenerator({ lease })
 * const { term } = lease // when a request has arrived, before the id is made
 * const id = ids.next()
 * if (term === undefined || term.isOver) throw new Error('another holder may have answered')
 * await lease.release()
 */
export class Term {
  readonly #clock: TermClock
  readonly #heldMs: number
  /** Both clocks have to be before it: the monotonic clock of Linux stands still in a suspended machine. */
  #end: Moment

  /** @internal @param sent - The time before the write of the store that began it. */
  constructor(clock: TermClock, windowMs: number, sent: Moment) {
    this.#clock = clock
    this.#heldMs = windowMs * (1 - drift)
    this.#end = this.#endFrom(sent)
  }

  /**
   * Whether another lease may have the node. False again after a renewal that the store acknowledges, and
   * after a wall clock that ran ahead is set back.
   */
  get isOver(): boolean {
    return this.remainingMs === 0
  }

  /** Milliseconds until the term is over, unless the lease is renewed. */
  get remainingMs(): number {
    const { monotonicMs, wallMs } = readClocks(this.#clock)
    return Math.max(0, Math.min(this.#end.monotonicMs - monotonicMs, this.#end.wallMs - wallMs))
  }

  /** The store has acknowledged a renewal. @param sent - The time before the renewal was sent. @internal */
  renew(sent: Moment): void {
    this.#end = this.#endFrom(sent)
  }

  /** Ends the term at once, because the lease gives its node back. @internal */
  end(): void {
    this.#end = { monotonicMs: Number.NEGATIVE_INFINITY, wallMs: Number.NEGATIVE_INFINITY }
  }

  #endFrom({ monotonicMs, wallMs }: Moment): Moment {
    return { monotonicMs: monotonicMs + this.#heldMs, wallMs: wallMs + this.#heldMs }
  }
}
