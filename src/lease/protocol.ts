import { GraupelError } from '../core/errors.js'
import type { Written } from '../stores/calls.js'
import type { StoreEntry } from '../stores/store.js'
import { type Candidate, type Exhausted, NodeSearch } from './node-search.js'
import { type LeaseRecord, readLease, writeLease } from './record.js'
import { type LeaseParts, ServerLife, StoreClock } from './server-life.js'

/** A node, and the ticks of it that may be used. */
export interface Holding {
  readonly node: number
  readonly version: string
  readonly record: LeaseRecord
}

/**
 * Conflicts in a row after which an acquisition waits as if the node were held. A list may be older than the
 * records, and without a wait the lease would call the store all the time.
 */
const maxConflicts = 8

/**
 * Acquires, renews and releases nodes. Each holder has ticks of a node that no other holder has: its floor is
 * at or above every ceiling that was granted before, and it uses no tick from its ceiling on until the store
 * has acknowledged a higher ceiling. Clocks decide which process waits, but never whether ids are distinct
 * (docs/leases.md).
 */
export class LeaseProtocol {
  readonly #parts: LeaseParts
  readonly #storeClock: StoreClock
  readonly #life: ServerLife
  readonly #search: NodeSearch
  /** Attempts to write the record of the present node whose outcome is not known. */
  readonly #unknown = new Set<string>()
  /** The store's time when it was last read for a ceiling, and the monotonic time before that. */
  #read: { readonly nowMs: number; readonly beforeMs: number } | undefined
  /** The last write that tried to take a node, until this lease has accepted the node or another has it. */
  #tried: { readonly node: number; readonly token: string; readonly attempt: string } | undefined
  #hasTried = false

  constructor(parts: LeaseParts) {
    this.#parts = parts
    this.#storeClock = new StoreClock(parts)
    this.#life = new ServerLife(parts)
    this.#search = new NodeSearch(parts, this.#life)
  }

  /**
   * Tries to get a free node. Gives up if other processes are faster several times in a row. Call `accept`
   * if the lease goes on with the node, and `abandon` if it does not.
   *
   * @param token - The token of the lease. A node that the lease had before is free to it.
   * @returns The node, or the reason why there is no node.
   * @throws GraupelError `ERR_CLOCK_SKEW`, `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`,
   * `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT`; the reason of the signal.
   */
  async acquire(token: string, signal?: AbortSignal): Promise<Holding | Exhausted> {
    this.#hasTried = false
    await this.#life.enter(signal)
    for (let conflicts = 0; ; ) {
      const chosen = await this.#search.find(token, signal)
      if ('held' in chosen) return chosen
      this.#read = chosen.proof
      const taken = await this.#take(chosen, token, signal)
      if ('held' in taken) {
        conflicts++
        if (conflicts === maxConflicts) return taken
      } else if (await this.#life.isProven(chosen.proof, signal)) {
        return taken
      }
    }
  }

  /**
   * Makes the node of the last `acquire` the present node. Until then, `release` recognizes unanswered
   * attempts at the record of the node before.
   */
  accept(): void {
    this.#tried = undefined
    this.#unknown.clear()
  }

  /** Whether the last `acquire` has tried to take a node. */
  get hasTried(): boolean {
    return this.#hasTried
  }

  /**
   * Gives back the node of an `acquire` that was not accepted, if its write has landed. If it throws, it may
   * be called again.
   *
   * @param token - Of the lease. An attempt by an earlier token may be that of the machine that was copied.
   * @throws as `renew`
   */
  async abandon(token: string, signal?: AbortSignal): Promise<void> {
    if (this.#tried?.token !== token) return
    const { node, attempt } = this.#tried
    const entry = await this.#parts.calls.read(this.#parts.group.keyOf(node), signal)
    const record = entry && readLease(entry, this.#parts.group)
    if (record?.attempt === attempt) {
      // A write that lands forgets the attempts at the present node, which is another one.
      const kept = [...this.#unknown]
      await this.release({ node, version: entry?.version as string, record }, record.floor, signal)
      for (const one of kept) this.#unknown.add(one)
    }
    this.#tried = undefined
  }

  /**
   * Sets the ceiling a window ahead.
   *
   * @returns `lapsed` if the ceiling has passed, because another process may have had the node since; `lost`
   * if another process has it.
   * @throws as `acquire`
   */
  async renew(holding: Holding, signal?: AbortSignal): Promise<Holding | 'lapsed' | 'lost'> {
    const { node, record } = holding
    const key = this.#parts.group.keyOf(node)
    const endMs = this.#parts.group.timeOf(record.ceiling)
    const beforeMs = this.#parts.clock.monotonicMs()
    // A holder whose clock is wrong may make no ids. So that a standby takes over, it does not renew either.
    const nowMs = await this.#storeClock[this.#parts.rules.strict ? 'checkedMs' : 'nowMs'](key, signal)
    if (nowMs >= endMs) return 'lapsed'
    this.#checkAdvance({ nowMs, beforeMs })
    const ceiling = Math.max(record.ceiling, this.#parts.group.tickAt(nowMs + this.#parts.rules.windowMs))
    const written = await this.#write(holding, { ...record, ceiling }, signal)
    if (written === undefined) return 'lost'
    const landed = 'record' in written ? written : written.other
    // An acquisition without an answer had taken the same node, and has given it back.
    if (landed.record.isReleased) return 'lapsed'
    if (!this.#parts.rules.durable) {
      // If the write took until the ceiling, another process may have had the node, and the server may have
      // forgotten that process. So the write counts only if the ceiling has not passed.
      this.#unknown.add(landed.record.attempt)
      if ((await this.#storeClock.nowMs(key, signal)) >= endMs) return 'lapsed'
    }
    return 'record' in written ? written : this.renew(landed, signal)
  }

  /**
   * Gives the node back.
   *
   * @param nextTick - The tick after the last tick that was used.
   * @throws as `renew`
   */
  async release(holding: Holding, nextTick: number, signal?: AbortSignal): Promise<void> {
    const { record } = holding
    // Never below the floor, because a former holder may have used the ticks below the floor.
    const ceiling = Math.max(record.floor, Math.min(record.ceiling, nextTick))
    const written = await this.#write(holding, { ...record, ceiling, isReleased: true }, signal)
    if (written !== undefined && 'other' in written) return this.release(written.other, nextTick, signal)
  }

  /**
   * Refuses a time of a store that may forget if the store's clock has gone further than the time that has
   * passed: a ceiling that is more than a window ahead could outlast the wait for a new server.
   */
  #checkAdvance(read: { readonly nowMs: number; readonly beforeMs: number }): void {
    if (this.#parts.rules.durable) return
    const { maxClockSkewMs } = this.#parts.rules
    const last = this.#read ?? read
    const passedMs = this.#parts.clock.monotonicMs() - last.beforeMs
    const aheadMs = read.nowMs - last.nowMs - passedMs
    if (aheadMs > maxClockSkewMs) {
      throw new GraupelError(
        'ERR_CLOCK_SKEW',
        `the clock of the store '${this.#parts.calls.store.name}' has gone ${Math.ceil(aheadMs)} ms further than the time since the last renewal; it may go maxClockSkewMs (${maxClockSkewMs}) further: set the clock of the store's server, or look for code that sets the clock of a session`,
        { option: 'maxClockSkewMs' },
      )
    }
    this.#read = read
  }

  /**
   * Writes the record of the present node.
   *
   * @returns The new record; `other` if an earlier write of this holder has landed instead; `undefined` if
   * another process has written.
   */
  async #write(
    holding: Holding,
    next: LeaseRecord,
    signal: AbortSignal | undefined,
  ): Promise<Holding | { readonly other: Holding } | undefined> {
    const { node } = holding
    const record = { ...next, attempt: this.#parts.clock.newToken() }
    this.#unknown.add(record.attempt)
    const written = await this.#put(
      this.#parts.group.keyOf(node),
      writeLease(this.#parts.group, record),
      holding.version,
      signal,
    )
    this.#unknown.delete(record.attempt)
    if (written.landed) {
      this.#unknown.clear()
      return { node, version: written.version, record }
    }
    const found = written.found && readLease(written.found, this.#parts.group)
    // Compares the attempt and not the token: a clone of this machine has the same token, but never the same
    // attempt.
    if (found === undefined || !this.#unknown.has(found.attempt)) return undefined
    return { other: { node, version: (written.found as StoreEntry).version, record: found } }
  }

  #put(key: string, value: string, expected: string | undefined, signal: AbortSignal | undefined): Promise<Written> {
    return this.#parts.calls.write(key, value, expected, this.#parts.rules.writeMs, signal)
  }

  /** Takes a free node, unless another process is faster. */
  async #take(
    { node, entry, record, proof }: Candidate,
    token: string,
    signal: AbortSignal | undefined,
  ): Promise<Holding | Exhausted> {
    const { owner, windowMs } = this.#parts.rules
    // Above every ceiling that was granted, and above every ceiling that may have been forgotten. A new node
    // begins now.
    const granted = record?.ceiling ?? this.#parts.group.tickAt(proof.nowMs)
    const floor = Math.max(granted, this.#parts.group.tickAt(proof.forgottenMs))
    const ceiling = Math.max(floor, this.#parts.group.tickAt(proof.nowMs + windowMs))
    const attempt = this.#parts.clock.newToken()
    // Others wait for the window of the record, in whole milliseconds: never for less.
    const next = { owner, token, attempt, floor, ceiling, isReleased: false, windowMs: Math.ceil(windowMs) }
    this.#tried = { node, token, attempt }
    this.#hasTried = true
    const written = await this.#put(
      this.#parts.group.keyOf(node),
      writeLease(this.#parts.group, next),
      entry?.version,
      signal,
    )
    if (written.landed) return { node, version: written.version, record: next }
    this.#tried = undefined
    const found = written.found && readLease(written.found, this.#parts.group)
    return { held: 1, owners: [found?.owner ?? 'another'], freeAtMs: found && this.#search.freeAtMs(found) }
  }
}
