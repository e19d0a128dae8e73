import type { StoreCalls } from '../stores/calls.js'
import type { StoreEntry } from '../stores/store.js'
import { type Moment, momentAt } from './period.js'
import { addWriter, attemptOf, type CounterRules, isLater, type Position, readCounter, writeCounter } from './record.js'

/** The most pending writes that a process remembers. Each takes some 200 bytes. */
const maxPending = 1024

/** Consecutive counts that one write takes. */
interface Range {
  readonly period: string
  readonly first: number
  readonly count: number
}

/** The tokens and the generation of the machine, which a simulation injects. */
export interface CounterTools {
  /** Makes a short text that no process ever makes again. */
  newToken(): string
  /** Reads a number that differs in a copy of the machine, or after a hook. */
  generation(): number
}

/** The record as it was read last. */
interface Known {
  readonly version: string | undefined
  readonly writers: readonly string[]
}

/**
 * Counts in the record of a store, one write at a time.
 *
 * A conflict does not prove that a write has failed: the write may have landed before another process wrote,
 * and lost its reply. So the record remembers the last write of each writer.
 */
export class CounterProtocol {
  readonly #calls: StoreCalls
  readonly #rules: CounterRules
  readonly #tools: CounterTools
  #writer: string
  /** The generation of the machine that has made the pending writes and has the held counts. */
  #generation: number
  #known: Known = { version: undefined, writers: [] }
  /**
   * The furthest position of all records, so that this process does not repeat counts after a store has
   * forgotten writes.
   */
  #latest: Position | undefined
  /**
   * The counts of each write that may have landed, or may still land. All these writes expect the same
   * version, so at most one of them lands. Once the record has another version, it names the write that
   * landed. If that write was forgotten, its counts are a gap.
   */
  readonly #pending = new Map<string, Range>()
  /** The last write that is known to have landed. */
  #landed: string | undefined
  /** Counts that have landed, and were given to no caller. */
  #held: Range[] = []
  #lost = 0
  #recovered = 0

  constructor(calls: StoreCalls, rules: CounterRules, tools: CounterTools) {
    this.#calls = calls
    this.#rules = rules
    this.#tools = tools
    this.#writer = tools.newToken()
    this.#generation = tools.generation()
  }

  /** How many counts have landed for callers that got an error. The next callers get them. */
  get held(): number {
    return countIn(this.#held)
  }

  /** How many held counts were not given before their period ended, or the machine was copied. */
  get lost(): number {
    return this.#lost
  }

  /** How often the record was behind an earlier record. */
  get recovered(): number {
    return this.#recovered
  }

  /**
   * Reads the record. @throws as `StoreCalls.read`; GraupelError `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT`
   */
  async read(signal?: AbortSignal): Promise<void> {
    this.#meet(await this.#calls.read(this.#rules.key, signal))
  }

  /** Computes the moment at which a number is counted now. @throws as {@link momentAt} */
  momentAt(nowMs: number): Moment {
    const { reset, offsetMinutes } = this.#rules
    return momentAt(nowMs, this.#latest?.period, reset, offsetMinutes)
  }

  /** Returns the first count that a write in a period would take. */
  nextOf(period: string): number {
    return this.#latest?.period === period ? this.#latest.count + 1 : this.#rules.start
  }

  /**
   * Gives consecutive held counts. Returns the first, or `undefined` if there are not enough. Held counts of
   * an earlier period, or from before a copy of the machine, are lost.
   */
  giveHeld(period: string, count: number): number | undefined {
    this.#leaveCopied()
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
   * Takes counts of a period, from {@link nextOf} on, by a write. If the write lands, the counts are held.
   *
   * @param withinMs - After how many milliseconds a write whose outcome is not known is given up.
   * @returns Whether the write has landed. Otherwise an earlier write of this process may have landed, and
   * its counts are held.
   * @throws GraupelError `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`, `ERR_STORE_UNSAFE` if the outcome is
   * not known; a later write finds it out; `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT`.
   */
  async write(period: string, count: number, withinMs: number): Promise<boolean> {
    this.#leaveCopied()
    const range = { period, first: this.nextOf(period), count }
    const end: Position = { period, count: range.first + count - 1 }
    const attempt = this.#tools.newToken()
    const { version } = this.#known
    const writers = addWriter(this.#known.writers, this.#writer, attempt)
    this.#remember(attempt, range)
    const written = await this.#calls.write(this.#rules.key, writeCounter(this.#rules, end, writers), version, withinMs)
    if (!written.landed) {
      this.#meet(written.found)
      return this.#landed === attempt
    }
    this.#settle(attempt)
    this.#known = { version: written.version, writers }
    this.#latest = end
    return true
  }

  /**
   * Notes a write before it is made. If there are too many, forgets the second one: the first write of an
   * outage is the likeliest to have landed, and the last ones may be under way.
   */
  #remember(attempt: string, range: Range): void {
    this.#pending.set(attempt, range)
    if (this.#pending.size <= maxPending) return
    const [, second] = this.#pending.keys()
    this.#pending.delete(second as string)
  }

  /**
   * Gives up what the machine had when it was copied, because each copy would give it: held counts, and
   * writes whose outcome is not known. A write that is under way lands in the name of the former writer.
   */
  #leaveCopied(): void {
    const generation = this.#tools.generation()
    if (generation === this.#generation) return
    this.#generation = generation
    this.#lost += countIn(this.#held)
    this.#held = []
    this.#pending.clear()
    this.#writer = this.#tools.newToken()
  }

  /**
   * Continues from a record with another version than the writes have expected. A write that has not landed
   * by now never will.
   */
  #meet(found: StoreEntry | undefined): void {
    const record = found && readCounter(found, this.#rules)
    const attempt = record && attemptOf(record.writers, this.#writer)
    if (attempt !== undefined && !this.#settle(attempt)) {
      // A clone of this machine writes under the same name, or the store has forgotten the last write.
      this.#writer = this.#tools.newToken()
    }
    this.#pending.clear()
    this.#known = { version: found?.version, writers: record?.writers ?? [] }
    if (this.#latest === undefined || (record !== undefined && !isLater(this.#latest, record))) this.#latest = record
    else this.#recovered++
  }

  /** Notes the write that has landed last. Returns whether it is a write of this process. */
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
