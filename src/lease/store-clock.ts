import { GraupelError } from '../core/errors.js'
import type { Clock } from '../core/timing.js'
import type { StoreCalls } from '../stores/calls.js'
import type { LeaseRules } from './options.js'

/** The part of the platform that the protocol uses. A simulation injects its own, which runs in virtual time. */
export interface LeaseClock extends Pick<Clock, 'wallMs' | 'monotonicMs' | 'random'> {
  /** A text that no other call returns. */
  newToken(): string
  /** Called before a wait until the server is trusted; `untilMs` is the store's time. */
  onWait?(untilMs: number): void
}

/** The clock of a store; if the store has no clock, the local clock. Checks how far the two clocks are apart. */
export class StoreClock {
  readonly #calls: StoreCalls
  readonly #rules: LeaseRules
  readonly #clock: LeaseClock

  constructor(calls: StoreCalls, rules: LeaseRules, clock: LeaseClock) {
    this.#calls = calls
    this.#rules = rules
    this.#clock = clock
  }

  /** Reads the clock; milliseconds since 1970. @throws as `StoreCalls.read` */
  async nowMs(signal: AbortSignal | undefined): Promise<number> {
    return (await this.#calls.nowMs(signal)) ?? this.#clock.wallMs()
  }

  /** Reads the clock, and checks that the local clock agrees. @throws as `nowMs`; GraupelError `ERR_CLOCK_SKEW` */
  async checkedMs(signal: AbortSignal | undefined): Promise<number> {
    const { maxClockSkewMs } = this.#rules
    const beforeMs = this.#clock.monotonicMs()
    const nowMs = await this.nowMs(signal)
    const wallMs = this.#clock.wallMs()
    // The store has read its clock at some moment of the call.
    const callMs = this.#clock.monotonicMs() - beforeMs
    const aheadMs = wallMs - nowMs
    if (aheadMs >= -maxClockSkewMs && aheadMs <= maxClockSkewMs + callMs) return nowMs
    throw new GraupelError(
      'ERR_CLOCK_SKEW',
      `the clock of this host shows ${new Date(wallMs).toISOString()}, and the clock of the store '${this.#calls.store.name}' ${new Date(nowMs).toISOString()}; they may differ by maxClockSkewMs (${maxClockSkewMs}): set the clock that is wrong`,
      { option: 'maxClockSkewMs' },
    )
  }
}
