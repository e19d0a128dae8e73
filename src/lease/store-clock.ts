import { GraupelError } from '../core/errors.js'
import type { StoreCalls } from '../stores/calls.js'
import type { LeaseClock, LeaseRules } from './rules.js'

/** The clock of a store, or the local one where it has none; and how far the local one may be from it. */
export class StoreClock {
  readonly #calls: StoreCalls
  readonly #rules: LeaseRules
  readonly #clock: LeaseClock

  constructor(calls: StoreCalls, rules: LeaseRules, clock: LeaseClock) {
    this.#calls = calls
    this.#rules = rules
    this.#clock = clock
  }

  /** Milliseconds since 1970. @throws as `StoreCalls.read` */
  async nowMs(signal: AbortSignal | undefined): Promise<number> {
    return (await this.#calls.nowMs(signal)) ?? this.#clock.wallMs()
  }

  /** The same, where the local clock agrees. @throws as `nowMs`; GraupelError `ERR_CLOCK_SKEW` */
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
      `the clock of this host shows ${new Date(wallMs).toISOString()}, and that of the store '${this.#calls.store.name}' ${new Date(nowMs).toISOString()}; they may differ by maxClockSkewMs (${maxClockSkewMs}): set the one that is wrong`,
    )
  }
}
