import { setTimeout as sleep } from 'node:timers/promises'
import { createGenerator, GraupelError, type IdGenerator, type Layout, type Stats } from 'graupel'
import { acquireLease, type Lease, type LeaseOptions, type LeaseStats } from 'graupel/lease'
import { noTotals, type Totals, totalsWith } from '../metrics/totals.js'

/** What a source of ids says of itself. */
export interface Readiness {
  readonly isReady: boolean
  /** Why it is not ready, in a sentence. */
  readonly reason?: string
  /** Milliseconds until its ids are used up, unless the store answers before. */
  readonly remainingMs: number
}

/** The options of its lease, without the layout. */
export type LeaseChoice = Omit<LeaseOptions, 'layout' | 'signal'> & { readonly windowMs: number }

/** Between two attempts to have a node after the lease was lost for good. */
const retryMs = 1000
/** Of a window; a lease is renewed each third of it, so one renewal has failed and time is left for the next. */
const lowPart = 1 / 3

/** Ids of one layout, by a lease of a node of its own. */
export class IdSource {
  readonly layout: Layout
  readonly #choice: LeaseChoice
  readonly #end = new AbortController()
  #lease: Lease | undefined
  #generator: IdGenerator | undefined
  #error: unknown
  /** Of the leases that are over. */
  #former: Totals = noTotals
  #acquiring: Promise<void> | undefined

  constructor(layout: Layout, choice: LeaseChoice) {
    this.layout = layout
    this.#choice = choice
  }

  /** Acquires a node, and once that is lost for good another one, until the source is closed. @throws what `acquireLease` throws at first */
  async open(): Promise<void> {
    await this.#acquire()
    void this.#keep()
  }

  /** The node; `undefined` before there is one. */
  get node(): number | undefined {
    return this.#lease?.node
  }

  /** One id. @throws GraupelError as `nextAsync` */
  next(): Promise<bigint> {
    return this.#running().nextAsync()
  }

  /** As many ids in ascending order. @throws GraupelError as `fillAsync` */
  fill(count: number): Promise<BigUint64Array> {
    return this.#running().fillAsync(new BigUint64Array(count))
  }

  /** @throws GraupelError `ERR_LEASE_EXPIRED` where no id can be had now. */
  check(): void {
    this.#running()
    const { remainingMs, reason } = this.readiness()
    if (remainingMs <= 0) throw new GraupelError('ERR_LEASE_EXPIRED', reason as string, { retryAfterMs: retryMs })
  }

  readiness(nowMs = Date.now()): Readiness {
    const lease = this.#lease
    if (lease === undefined || lease.signal.aborted) {
      // The code alone: clients see it, and a message may name the address of the store.
      const { code } = Object(this.#error) as { code?: unknown }
      const cause = typeof code === 'string' ? ` (${code})` : ''
      return { isReady: false, reason: `no node of layout '${this.layout.name}' is leased${cause}`, remainingMs: 0 }
    }
    const remainingMs = lease.stats().ceilingMs - nowMs
    if (remainingMs > this.#choice.windowMs * lowPart) return { isReady: true, remainingMs }
    const reason = `the store has not renewed the lease of node ${lease.node} of layout '${this.layout.name}' in time`
    return { isReady: false, reason, remainingMs: Math.max(0, remainingMs) }
  }

  stats(): { readonly ids: Stats; readonly lease: LeaseStats } | undefined {
    if (this.#lease === undefined || this.#generator === undefined) return undefined
    return { ids: this.#generator.stats(), lease: this.#lease.stats() }
  }

  /** What it has counted since it was made. */
  totals(): Totals {
    const stats = this.stats()
    return stats === undefined ? this.#former : totalsWith(this.#former, stats.ids, stats.lease)
  }

  /** Gives the node back. */
  async close(): Promise<void> {
    this.#end.abort()
    // One that comes in this moment is given back, too.
    await this.#acquiring?.catch(() => {})
    this.#generator?.close()
    await this.#lease?.release()
  }

  #running(): IdGenerator {
    if (this.#generator !== undefined) return this.#generator
    throw new GraupelError('ERR_LEASE_EXPIRED', this.readiness().reason as string, {
      cause: this.#error,
      retryAfterMs: retryMs,
    })
  }

  #acquire(): Promise<void> {
    this.#acquiring = this.#acquireNode()
    return this.#acquiring
  }

  async #acquireNode(): Promise<void> {
    const lease = await acquireLease({ ...this.#choice, layout: this.layout, signal: this.#end.signal })
    this.#generator = createGenerator({ lease }) as IdGenerator
    this.#lease = lease
    this.#error = undefined
  }

  async #keep(): Promise<void> {
    const { signal: end } = this.#end
    while (!end.aborted) {
      const { signal } = this.#lease as Lease
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      if (end.aborted) return
      this.#error = signal.reason
      this.#former = this.totals()
      this.#generator?.close()
      this.#generator = undefined
      while (!end.aborted && this.#generator === undefined) {
        await this.#acquire().catch((error) => {
          this.#error = error
          this.#former = { ...this.#former, failures: this.#former.failures + 1 }
        })
        if (this.#generator === undefined) await sleep(retryMs, undefined, { signal: end }).catch(() => {})
      }
    }
  }
}
