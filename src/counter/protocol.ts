import type { Clock } from '../core/timing.js'
import type { StoreCalls } from '../stores/calls.js'
import type { StoreEntry } from '../stores/store.js'
import { type Moment, momentAt } from './period.js'
import { addWriter, attemptOf, type CounterRules, isLater, type Position, readCounter, writeCounter } from './record.js'

/** Counts in a row that a write takes. */
interface Range {
  readonly period: string
  readonly first: number
  readonly count: number
}

/** What is injected, so that a simulation has it under control. */
export interface CounterTools extends Pick<Clock, 'monotonicMs'> {
  /** A short text that is never made again, by this process or any other. */
  newToken(): string
}

/** The record as it was met last. */
interface Known {
  readonly version: string | undefined
  readonly writers: readonly string[]
}

/**
 * Counts in the record of a store, one write at a time.
 *
 * A conflict does not say that a write has failed: it may have landed, its reply was lost, and another process has written since.
 * So the record remembers the last write of each writer. Writes whose outcome is not known are pending. All of them expect the same
 * version, so one of them lands at the most, and once the record has another version, it says which.
 */
export class CounterProtocol {
  readonly #calls: StoreCalls
  readonly #rules: CounterRules
  readonly #tools: CounterTools
  readonly #writeMs: number
  #writer: string
  #known: Known = { version: undefined, writers: [] }
  /** The furthest that any record was, so that a store that forgets does not make this process repeat itself. */
  #latest: Position | undefined
  /** What each write takes that may have landed, or may still land. */
  readonly #pending = new Map<string, Range>()
  /** The last write that is known to have landed. */
  #landed: string | undefined
  /** What has landed and is given to none. */
  #held: Range[] = []
  #lost = 0
  #recovered = 0

  /** @param writeMs - For how long a write is repeated whose outcome is not known. */
  constructor(calls: StoreCalls, rules: CounterRules, tools: CounterTools, writeMs: number) {
    this.#calls = calls
    this.#rules = rules
    this.#tools = tools
    this.#writeMs = writeMs
    this.#writer = tools.newToken()
  }

  /** Counts that have landed for callers that were told an error, and wait for others. */
  get held(): number {
    return countIn(this.#held)
  }

  /** How many of them were not given before their period was over. */
  get lost(): number {
    return this.#lost
  }

  /** How often the record was behind what it had been before. */
  get recovered(): number {
    return this.#recovered
  }

  /** Meets the record. @throws as `StoreCalls.read`; GraupelError `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT` */
  async read(signal?: AbortSignal): Promise<void> {
    this.#meet(await this.#calls.read(this.#rules.key, signal))
  }

  /** When a number is counted now. @throws as {@link momentAt} */
  momentAt(nowMs: number): Moment {
    const { reset, offsetMinutes } = this.#rules
    return momentAt(nowMs, this.#latest?.period, reset, offsetMinutes)
  }

  /** The first count of a period that a write would take. */
  nextOf(period: string): number {
    return this.#latest?.period === period ? this.#latest.count + 1 : this.#rules.start
  }

  /**
   * Gives counts in a row that are held; the first of them, or `undefined` where there are none. What is held of a period before is
   * lost.
   */
  giveHeld(period: string, count: number): number | undefined {
    const left = this.#held.filter((range) => range.period === period)
    this.#lost += countIn(this.#held) - countIn(left)
    this.#held = left
    const at = left.findIndex((range) => range.count >= count)
    const range = left[at]
    if (range === undefined) return undefined
    const { first } = range
    const rest = { period, first: first + count, count: range.count - count }
    left.splice(at, 1, ...(rest.count > 0 ? [rest] : []))
    return first
  }

  /**
   * Writes that counts are taken, the first of them {@link nextOf} the period. Where that lands, they are held.
   *
   * @returns Whether it has landed; else an earlier write of this process may have, and its counts are held.
   * @throws GraupelError `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID` where the outcome is not known, and comes to light by a later
   * write; `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT`.
   */
  async write(period: string, count: number): Promise<boolean> {
    const range = { period, first: this.nextOf(period), count }
    const end: Position = { period, count: range.first + count - 1 }
    const attempt = this.#tools.newToken()
    const { version } = this.#known
    const writers = addWriter(this.#known.writers, this.#writer, attempt)
    const untilMs = this.#tools.monotonicMs() + this.#writeMs
    this.#pending.set(attempt, range)
    const written = await this.#calls.write(this.#rules.key, writeCounter(this.#rules, end, writers), version, untilMs)
    if (!written.landed) {
      this.#meet(written.found)
      return this.#landed === attempt
    }
    this.#settle(attempt)
    this.#known = { version: written.version, writers }
    this.#latest = end
    return true
  }

  /** Goes on from a record with another version than the writes have expected: what has not landed by now never will. */
  #meet(found: StoreEntry | undefined): void {
    const record = found && readCounter(found, this.#rules)
    const attempt = record && attemptOf(record.writers, this.#writer)
    if (attempt !== undefined && !this.#settle(attempt)) {
      // A machine that was cloned writes under the same name; or the store has forgotten the last write.
      this.#writer = this.#tools.newToken()
    }
    this.#pending.clear()
    this.#known = { version: found?.version, writers: record?.writers ?? [] }
    if (this.#latest === undefined || (record !== undefined && !isLater(this.#latest, record))) this.#latest = record
    else this.#recovered++
  }

  /** Notes the write that has landed last; false where it is none of this process. */
  #settle(attempt: string): boolean {
    const range = this.#pending.get(attempt)
    if (range !== undefined) this.#held.push(range)
    const isOwn = range !== undefined || attempt === this.#landed
    if (isOwn) this.#landed = attempt
    this.#pending.clear()
    return isOwn
  }
}

function countIn(ranges: readonly Range[]): number {
  return ranges.reduce((sum, { count }) => sum + count, 0)
}
