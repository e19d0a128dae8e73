import { GraupelError, showTime } from '../core/errors.js'
import type { Clock } from '../core/timing.js'
import type { StoreCalls } from '../stores/calls.js'
import type { Group } from './group.js'
import { type GroupRecord, readGroup, writeRecord } from './record.js'

/** The options that the protocol needs. */
interface LeaseRules {
  readonly windowMs: number
  readonly maxClockSkewMs: number
  readonly owner: string
  /** Whether the store never loses a write that it has acknowledged. */
  readonly durable: boolean
  /** Whether a lease takes a node of another only after it has watched that one's record for its window. */
  readonly strict: boolean
  /** Milliseconds for which attempts at one write may go on. */
  readonly writeMs: number
}

/**
 * The part of the platform that the protocol uses. A simulation injects its own, which runs in virtual time.
 */
interface LeaseClock extends Pick<Clock, 'wallMs' | 'monotonicMs' | 'random'> {
  /** A text that no other call returns. */
  newToken(): string
  /** Called before a wait until the server is trusted; `untilMs` is the store's time. */
  onWait?(untilMs: number): void
}

/** The objects that all parts of the protocol share. */
export interface LeaseParts {
  readonly calls: StoreCalls
  readonly group: Group
  readonly rules: LeaseRules
  readonly clock: LeaseClock
}

/**
 * The clock of a store; if the store has no clock, the local clock. Checks how far the two clocks are apart.
 */
export class StoreClock {
  readonly #parts: LeaseParts

  constructor(parts: LeaseParts) {
    this.#parts = parts
  }

  /** Reads the clock of the server that has a key; milliseconds since 1970. @throws as `StoreCalls.read` */
  async nowMs(key: string, signal: AbortSignal | undefined): Promise<number> {
    return (await this.#parts.calls.nowMs(signal, key)) ?? this.#parts.clock.wallMs()
  }

  /**
   * Reads the clock, and checks that the local clock agrees. @throws as `nowMs`; GraupelError
   * `ERR_CLOCK_SKEW`
   */
  async checkedMs(key: string, signal: AbortSignal | undefined): Promise<number> {
    const { maxClockSkewMs } = this.#parts.rules
    const beforeMs = this.#parts.clock.monotonicMs()
    const nowMs = await this.nowMs(key, signal)
    const wallMs = this.#parts.clock.wallMs()
    // The store has read its clock at some moment of the call.
    const callMs = this.#parts.clock.monotonicMs() - beforeMs
    const aheadMs = wallMs - nowMs
    if (aheadMs >= -maxClockSkewMs && aheadMs <= maxClockSkewMs + callMs) return nowMs
    throw new GraupelError(
      'ERR_CLOCK_SKEW',
      `the clock of this host shows ${showTime(wallMs)}, and the clock of the store '${this.#parts.calls.store.name}' ${showTime(nowMs)}; they may differ by maxClockSkewMs (${maxClockSkewMs}): set the clock that is wrong`,
      { option: 'maxClockSkewMs' },
    )
  }
}

/**
 * How often the server may change while its life is proven. More is no failover, but an address of several.
 */
const maxChanges = 8

/**
 * The longest window on a store that may forget. A ceiling that the store has forgotten is at most this far
 * ahead of its clock, so after this time in one life of the server, no forgotten lease still holds.
 */
export const maxForgottenMs = 10_000

/** The `sinceMs` of a record whose life has no time yet. */
const notSaid = 0

/** The proof that the server of a shard may be trusted at a time. */
export interface Proof {
  /** The store's time. */
  readonly nowMs: number
  /** The monotonic time before it was read. */
  readonly beforeMs: number
  /** The store's time until which forgotten leases may hold; 0 if the store never forgets. */
  readonly forgottenMs: number
  /** The record that has the proof; `undefined` if the store never forgets. */
  readonly life?: { readonly key: string; readonly version: string; readonly incarnation: string }
}

/**
 * Decides whether a server is trusted. A server that may forget is trusted after its present life has lasted
 * so long that no forgotten lease holds. Each shard has a record with the time at which this life was first
 * seen (docs/lease-proof.md, "C. Stores that forget").
 */
export class ServerLife {
  readonly #parts: LeaseParts
  readonly #storeClock: StoreClock

  constructor(parts: LeaseParts) {
    this.#parts = parts
    this.#storeClock = new StoreClock(parts)
  }

  /**
   * Writes the group's record if it is missing. It tells the command line how to read the records of the
   * nodes.
   *
   * @throws as `prove`
   */
  async enter(signal: AbortSignal | undefined): Promise<void> {
    const { key, ids } = this.#parts.group
    const entry = await this.#parts.calls.read(key, signal)
    if (entry === undefined) await this.#write(key, '', notSaid, undefined, signal)
    else readGroup(entry, ids)
  }

  /**
   * If the store may forget, waits until the present life of the server that has a shard has lasted for long
   * enough. Writes the record of this life if it is missing or has another life.
   *
   * @throws GraupelError `ERR_CLOCK_SKEW`, `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`, `ERR_STORE_UNSAFE`,
   * `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT`; the reason of the signal.
   */
  async prove(shard: number, signal: AbortSignal | undefined): Promise<Proof> {
    const key = this.#parts.group.lifeKeyOf(shard)
    const readClock = async () => {
      const beforeMs = this.#parts.clock.monotonicMs()
      return { nowMs: await this.#storeClock.checkedMs(key, signal), beforeMs }
    }
    if (this.#parts.rules.durable) return { ...(await readClock()), forgottenMs: 0 }
    for (let changes = 0; ; ) {
      const entry = await this.#parts.calls.read(key, signal)
      const seen = entry && readGroup(entry, this.#parts.group.ids)
      // Read before the time. Otherwise the time could be that of an earlier server, from before the present
      // life began.
      const incarnation = await this.#parts.calls.incarnation(signal, key)
      const { nowMs, beforeMs } = await readClock()
      if (entry === undefined || seen?.incarnation !== incarnation) {
        changes++
        if (changes > maxChanges) throw this.#changesAgain(key)
        await this.#write(key, incarnation, notSaid, entry?.version, signal)
        continue
      }
      if (seen.sinceMs === notSaid) {
        // This write replaces a record that existed before the time was read. If the first write had the
        // time, and were under way for long, its time could be from before the server was emptied.
        await this.#write(key, incarnation, Math.ceil(nowMs), entry.version, signal)
        continue
      }
      const forgottenMs = seen.sinceMs + maxForgottenMs + this.#parts.rules.maxClockSkewMs
      if (seen.sinceMs > nowMs + this.#parts.rules.maxClockSkewMs) throw this.#wentBack(key, nowMs, forgottenMs)
      if (nowMs > forgottenMs) {
        return { nowMs, beforeMs, forgottenMs, life: { key, version: entry.version, incarnation } }
      }
      // The lease may have been parked meanwhile, and its state must say so.
      signal?.throwIfAborted()
      this.#parts.clock.onWait?.(forgottenMs)
      await this.#parts.calls.wait(forgottenMs + 1 - nowMs, signal)
    }
  }

  /**
   * Makes the error of a clock that was ahead when the life was first seen. An earlier time is not put in its
   * place: it is all that is left of the ceilings that the store may have forgotten, which are as far ahead.
   */
  #wentBack(key: string, nowMs: number, forgottenMs: number): GraupelError {
    return new GraupelError(
      'ERR_CLOCK_SKEW',
      `the clock of the store '${this.#parts.calls.store.name}' shows ${showTime(nowMs)}, and was ahead of that when the server was first seen; leases that it may have forgotten hold until ${showTime(forgottenMs)}: set the clock if it is wrong, or wait until then; if the server has forgotten no lease since its clock went ahead, remove the record ${key}`,
    )
  }

  #changesAgain(key: string): GraupelError {
    return new GraupelError(
      'ERR_STORE_UNSAFE',
      `the server of the store '${this.#parts.calls.store.name}' was another one at each of ${maxChanges + 1} looks, so nothing is known of what it has forgotten (record ${key}); give an address that leads to one server, or to the primary`,
    )
  }

  /** Writes a record of the group, unless another process is faster. */
  async #write(
    key: string,
    incarnation: string,
    sinceMs: number,
    expected: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { nodes, epochMs, tickMs } = this.#parts.group.layout
    const record: GroupRecord = { nodes, epochMs, tickMs, incarnation, sinceMs, attempt: this.#parts.clock.newToken() }
    const { writeMs } = this.#parts.rules
    await this.#parts.calls.write(key, writeRecord(this.#parts.group.ids, record), expected, writeMs, signal)
  }

  /**
   * Whether no failover has come between the proof and a later write. Reads the record of the life first, and
   * then the life.
   */
  async isProven({ life }: Proof, signal: AbortSignal | undefined): Promise<boolean> {
    if (life === undefined) return true
    const entry = await this.#parts.calls.read(life.key, signal)
    if (entry?.version !== life.version) return false
    return (await this.#parts.calls.incarnation(signal, life.key)) === life.incarnation
  }
}
