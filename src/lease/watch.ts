import type { Clock } from '../core/timing.js'
import type { StoreEntry } from '../stores/store.js'

/**
 * Watches the records of other holders by the monotonic clock alone. A holder that has not renewed for its
 * window since its record was first seen has ended its term: it has sent the write of the record before.
 */
export class Watch {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #seen = new Map<string, { readonly version: string; readonly sinceMs: number }>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Whether a record was left unchanged for a window. @param entry - As the store has just returned it. */
  isOver({ key, version }: StoreEntry, windowMs: number): boolean {
    const nowMs = this.#clock.monotonicMs()
    const seen = this.#seen.get(key)
    if (seen?.version === version) return nowMs - seen.sinceMs >= windowMs
    this.#seen.set(key, { version, sinceMs: nowMs })
    return false
  }
}
