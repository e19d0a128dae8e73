import { GraupelError, showTime } from '../core/errors.js'
import type { Clock } from '../core/timing.js'
import type { StoreCalls } from '../stores/calls.js'
import type { Group } from './group.js'
import type { LeaseRules } from './options.js'
import { type GroupRecord, readGroup, writeRecord } from './record.js'

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
      `the clock of this host shows ${showTime(wallMs)}, and the clock of the store '${this.#calls.store.name}' ${showTime(nowMs)}; they may differ by maxClockSkewMs (${maxClockSkewMs}): set the clock that is wrong`,
      { option: 'maxClockSkewMs' },
    )
  }
}

/**
 * The longest window on a store that may forget. A ceiling that the store has forgotten is at most this far ahead of its clock, so after
 * this time in one life of the server, no forgotten lease still holds.
 */
export const maxForgottenMs = 10_000

/** The `sinceMs` of a record whose life has no time yet. */
const notSaid = 0

/** The proof that a server which may forget has lived for long enough. */
export interface Proof {
  readonly incarnation: string
  readonly sinceMs: number
  /** The version of the group's record that has the proof. */
  readonly version: string
}

/**
 * Decides whether a server is trusted. A server that may forget is trusted after its present life has lasted so long that no forgotten
 * lease holds. The group's record has the time at which this life was first seen (docs/leases.md, "Stores that forget").
 */
export class ServerLife {
  readonly #calls: StoreCalls
  readonly #group: Group
  readonly #rules: LeaseRules
  readonly #clock: LeaseClock
  readonly #storeClock: StoreClock

  constructor(calls: StoreCalls, group: Group, rules: LeaseRules, clock: LeaseClock, storeClock: StoreClock) {
    this.#calls = calls
    this.#group = group
    this.#rules = rules
    this.#clock = clock
    this.#storeClock = storeClock
  }

  /**
   * Writes the group's record if it is missing or has another life. If the store may forget, waits until the present life has lasted for
   * long enough.
   *
   * @returns The proof; `undefined` if the store is durable.
   * @throws GraupelError `ERR_CLOCK_SKEW`, `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`, `ERR_STATE_MISMATCH`,
   * `ERR_STATE_CORRUPT`; the reason of the signal.
   */
  async prove(signal: AbortSignal | undefined): Promise<Proof | undefined> {
    const { durable } = this.#rules
    for (;;) {
      const entry = await this.#calls.read(this.#group.key, signal)
      const seen = entry && readGroup(entry, this.#group.ids)
      if (seen !== undefined && durable) return undefined
      // Read before the time. Otherwise the time could be that of an earlier server, from before the present life began.
      const incarnation = durable ? '' : await this.#calls.incarnation(signal)
      const nowMs = await this.#storeClock.checkedMs(signal)
      if (entry === undefined || seen?.incarnation !== incarnation) {
        await this.#write(incarnation, notSaid, entry?.version, signal)
        continue
      }
      if (seen.sinceMs === notSaid) {
        // This write replaces a record that existed before the time was read. If the first write had the time, and were under way for
        // long, its time could be from before the server was emptied.
        await this.#write(incarnation, Math.ceil(nowMs), entry.version, signal)
        continue
      }
      const provenMs = this.provenMs(seen.sinceMs)
      if (nowMs > provenMs) return { incarnation, sinceMs: seen.sinceMs, version: entry.version }
      this.#clock.onWait?.(provenMs)
      await this.#calls.wait(provenMs + 1 - nowMs, signal)
    }
  }

  /** Writes the group's record, unless another process is faster. */
  async #write(
    incarnation: string,
    sinceMs: number,
    expected: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { nodes, epochMs, tickMs } = this.#group.layout
    const record: GroupRecord = { nodes, epochMs, tickMs, incarnation, sinceMs, attempt: this.#clock.newToken() }
    const untilMs = this.#clock.monotonicMs() + this.#rules.writeMs
    await this.#calls.write(this.#group.key, writeRecord(this.#group.ids, record), expected, untilMs, signal)
  }

  /** The store's time after which a life that was first seen at `sinceMs` is trusted. */
  provenMs(sinceMs: number): number {
    return sinceMs + maxForgottenMs + this.#rules.maxClockSkewMs
  }

  /** Whether no failover has come between the proof and a later write. Reads the group's record first, and then the life. */
  async isProven(proof: Proof | undefined, signal: AbortSignal | undefined): Promise<boolean> {
    if (proof === undefined) return true
    const entry = await this.#calls.read(this.#group.key, signal)
    if (entry?.version !== proof.version) return false
    return (await this.#calls.incarnation(signal)) === proof.incarnation
  }
}
