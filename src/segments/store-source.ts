import { GraupelError } from '../core/errors.js'
import type { Clock } from '../core/timing.js'
import type { StoreCalls } from '../stores/calls.js'
import { damagedNumbers, keyOf, readNumbers, writeNumbers } from '../stores/record.js'
import type { StoreEntry } from '../stores/store.js'
import { lastOf, nextSegment, type Range, type Segment, type SegmentSource } from './range.js'

/**
 * Milliseconds before the next try if another process was faster: doubled each time. `pause` subtracts up to
 * half.
 */
const firstPauseMs = 2
const maxPauseMs = 100
/** How long conflicts are tolerated, in times that one write may be tried. */
const conflictWrites = 5

export interface StoreSourceOptions extends Pick<Clock, 'monotonicMs'> {
  /** The name of the segments. */
  readonly segments: string
  readonly range: Range
  /** How many numbers are skipped if the store may have forgotten numbers that were given. */
  readonly failoverGap: bigint
  /** How long one write may be tried, in milliseconds. */
  readonly writeMs: number
  newToken(): string
  /** Called when numbers are skipped. */
  onGap?(from: bigint, count: bigint): void
}

/** Segments of a record that is raised by compare-and-swap. */
export class StoreSource implements SegmentSource {
  readonly name: string
  readonly #calls: StoreCalls
  readonly #options: StoreSourceOptions
  /** The `next` of the last record. A store with a lower record has forgotten writes. */
  #known = 0n

  constructor(calls: StoreCalls, options: StoreSourceOptions) {
    this.name = calls.store.name
    this.#calls = calls
    this.#options = options
  }

  async take(count: number, signal?: AbortSignal): Promise<Segment> {
    const { segments, range, writeMs, monotonicMs, newToken, onGap } = this.#options
    const key = keyOf(segments)
    const untilMs = monotonicMs() + conflictWrites * writeMs
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      // Read before the record. If a failover has lost the record meanwhile, only a changed incarnation shows
      // that.
      const incarnation = await this.#incarnation(key, signal)
      const entry = await this.#calls.read(key, signal)
      const { from, gap } = this.#begin(entry && readSegments(entry, segments), incarnation)
      const segment = nextSegment(range, from + gap * BigInt(range.stride), count)
      const next = lastOf(segment, range) + 1n
      const value = writeSegments(segments, { next, incarnation }, newToken())
      const written = await this.#calls.write(key, value, entry?.version, writeMs, signal)
      // After a failover, the write may have landed on an earlier record, because the later records were
      // forgotten.
      if (written.landed && (await this.#incarnation(key, signal)) === incarnation) {
        this.#known = next
        if (gap > 0n) onGap?.(nextSegment(range, from, 1).first, gap)
        return segment
      }
      // Without a limit, a store whose versions or incarnations change by themselves would be written to for
      // ever.
      if (monotonicMs() >= untilMs) throw this.#conflicts()
      await this.#calls.pause(pauseMs, signal)
    }
  }

  #conflicts(): GraupelError {
    const { segments, writeMs } = this.#options
    const text = `within ${conflictWrites * writeMs} ms the store '${this.name}' has answered each write of '${segments}' with a conflict or another incarnation; let fewer processes fetch at once, or raise step`
    return new GraupelError('ERR_STORE_UNAVAILABLE', text)
  }

  /**
   * Returns the first number that was not given according to all records, and how many numbers to skip for
   * writes that may be forgotten.
   */
  #begin(record: SegmentRecord | undefined, incarnation: string): { from: bigint; gap: bigint } {
    const { range, failoverGap } = this.#options
    const next = record?.next ?? 0n
    const isOfAnotherLife = record !== undefined && record.incarnation !== incarnation
    const hasForgotten = next < this.#known
    return {
      from: [next, this.#known, range.start].reduce((a, b) => (a > b ? a : b)),
      gap: isOfAnotherLife || hasForgotten ? failoverGap : 0n,
    }
  }

  async #incarnation(key: string, signal: AbortSignal | undefined): Promise<string> {
    return this.#calls.store.durable ? '' : this.#calls.incarnation(signal, key)
  }
}

/** The record that a store holds for the segments of one name. */
export interface SegmentRecord {
  /** Every smaller number was given to a process, or is skipped. */
  readonly next: bigint
  /** The life of the server in which the record was written; empty if the store is durable. */
  readonly incarnation: string
}

/**
 * Writes a record as text. @param attempt - A new random text for each write, by which the writer finds its
 * write.
 */
function writeSegments(name: string, { next, incarnation }: SegmentRecord, attempt: string): string {
  return writeNumbers('segments', name, { next: String(next), incarnation, attempt })
}

/** Reads a record. @throws GraupelError `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT` */
export function readSegments(entry: StoreEntry, name: string): SegmentRecord {
  const { next, incarnation } = readNumbers<{ next: string; incarnation: string }>(entry, 'segments', name, {
    next: 'string',
    incarnation: 'string',
  })
  if (!/^(0|[1-9][0-9]{0,19})$/.test(next)) throw damagedNumbers(entry.key, `its next is '${next}'`)
  return { next: BigInt(next), incarnation }
}
