import type { StoreCalls } from '../stores/calls.js'
import type { Group } from './group.js'
import { type GroupRecord, readGroup, writeRecord } from './record.js'
import type { LeaseClock, LeaseRules } from './rules.js'
import type { StoreClock } from './store-clock.js'

/**
 * What a store that is not durable may forget: ceilings at most this far ahead of its clock. So after this time in one life of the
 * server, nothing that it has forgotten still holds.
 */
export const maxForgottenMs = 10_000

/** In place of the time since when a life has been seen, until the record is there. */
const notSaid = 0

/** That a server which may forget has lived for long enough. */
export interface Proof {
  readonly incarnation: string
  readonly sinceMs: number
  /** The version of the group's record that says so. */
  readonly version: string
}

/**
 * Whether what a store says can be believed. A server that may forget is believed when its present life has lasted so long that
 * nothing forgotten holds any more; the group's record says since when it has been seen (docs/leases.md, "Stores that forget").
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
   * Writes the group's record where it is missing or of another life. Where the store may forget, waits until the present life has
   * lasted for long enough.
   *
   * @returns `undefined` where the store is durable: there is nothing to prove.
   * @throws GraupelError `ERR_CLOCK_SKEW`, `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`, `ERR_STATE_MISMATCH`,
   * `ERR_STATE_CORRUPT`; what the signal was aborted with.
   */
  async prove(signal: AbortSignal | undefined): Promise<Proof | undefined> {
    const { durable } = this.#rules
    for (;;) {
      const entry = await this.#calls.read(this.#group.key, signal)
      const seen = entry && readGroup(entry, this.#group.ids)
      if (seen !== undefined && durable) return undefined
      // Before the time: the time of a server that has gone would be earlier than the life of the one that came.
      const incarnation = durable ? '' : await this.#calls.incarnation(signal)
      const nowMs = await this.#storeClock.checkedMs(signal)
      if (entry === undefined || seen?.incarnation !== incarnation) {
        await this.#write(incarnation, notSaid, entry?.version, signal)
        continue
      }
      if (seen.sinceMs === notSaid) {
        // Over a record that was there before the time was read: said by the first write, the time could be from before the server
        // was emptied, where that write is under way for long.
        await this.#write(incarnation, Math.ceil(nowMs), entry.version, signal)
        continue
      }
      const provenMs = this.provenMs(seen.sinceMs)
      if (nowMs > provenMs) return { incarnation, sinceMs: seen.sinceMs, version: entry.version }
      this.#clock.onWait?.(provenMs)
      await this.#calls.wait(provenMs + 1 - nowMs, signal)
    }
  }

  /** Another process may have been faster. */
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

  /** The store's time after which a life is believed that was first seen at `sinceMs`. */
  provenMs(sinceMs: number): number {
    return sinceMs + maxForgottenMs + this.#rules.maxClockSkewMs
  }

  /** Whether no failover has come between the proof and the write: the group's record first, and then the life. */
  async isProven(proof: Proof | undefined, signal: AbortSignal | undefined): Promise<boolean> {
    if (proof === undefined) return true
    const entry = await this.#calls.read(this.#group.key, signal)
    if (entry?.version !== proof.version) return false
    return (await this.#calls.incarnation(signal)) === proof.incarnation
  }
}
