import { setTimeout as sleep } from 'node:timers/promises'
import { createGenerator, GraupelError, type IdArray, type IdGenerator, type Layout, type Stats } from 'graupel'
import { acquireLease, type Lease, type LeaseOptions, type LeaseStats, type Term } from 'graupel/lease'
import { createUuidGenerator } from 'graupel/uuid'
import { lateError, Standby, type StandbyError } from './standby.js'

const counts = [
  ...(['issued', 'waits', 'waitedMs', 'rollbacks', 'overflows', 'observed', 'raised', 'refused'] as const),
  ...(['renewals', 'failures', 'acquisitions'] as const),
] as const
/** The counts of a source of ids over all its leases and generators. */
export type Totals = Readonly<Record<(typeof counts)[number], number>>

/** The state of a source of ids. */
export interface Readiness {
  readonly isReady: boolean
  /** Why it is not ready, in a sentence. */
  readonly reason?: string
  /** The error of every id that is asked for now. A source that is not ready may still make ids. */
  readonly refusal?: GraupelError | StandbyError
  /** Milliseconds until no more ids can be made, unless the store renews the lease. */
  readonly remainingMs: number
}

/** The options of its lease, without the layout. */
export type LeaseChoice = Omit<LeaseOptions, 'layout' | 'signal'> & { readonly windowMs: number }

/** Time between two attempts to acquire a node after the lease was lost. */
const retryMs = 1000
/**
 * The part of a window at which a source is no longer ready. A lease is renewed at each third, so one renewal
 * has failed and one is left.
 */
const lowPart = 1 / 3
/** How far ids may run ahead of a clock that was set back. */
const mostAheadMs = 1000

/** Makes ids of one layout, with a leased node of its own. */
export class IdSource {
  readonly layout: Layout
  readonly #choice: LeaseChoice
  readonly #end = new AbortController()
  #lease: Lease | undefined
  /** The generator; with a layout that has tags, its view with all tags 0. */
  #generator: IdGenerator | undefined
  #error: unknown
  /** The counts of former leases. */
  #former: Totals = noTotals
  #acquiring: Promise<void> | undefined
  /** Closes the generator. */
  #close = () => {}
  /** Knows who gives the ids of a strict group; `undefined` without `strict`. */
  readonly #standby: Standby | undefined

  constructor(layout: Layout, choice: LeaseChoice) {
    this.layout = layout
    this.#choice = choice
    this.#standby = choice.strict ? new Standby(layout.name) : undefined
  }

  /**
   * Acquires a node, and a new node each time the lease is lost, until the source is closed. @throws the
   * first error of `acquireLease`, unless another server of a strict group has the node
   */
  async open(): Promise<void> {
    const { signal: end } = this.#end
    while (this.#lease === undefined) {
      await this.#acquire().catch((error) => {
        // A standby has reached the store before, and waits for it as the holder does.
        if (this.#standby?.hasSeenHolder !== true || end.aborted) throw error
        this.#error = error
        return sleep(retryMs, undefined, { signal: end }).catch(() => {})
      })
    }
    void this.#keep()
  }

  /** The node; `undefined` before the first lease. */
  get node(): number | undefined {
    return this.#lease?.node
  }

  /** Makes one id, with all tags 0. @throws GraupelError as `nextAsync` */
  next(): Promise<bigint> {
    return this.#inTerm(nextOf)
  }

  /**
   * Makes ids in ascending order. @param tags - Their tags, shifted as in an id: a view for each request
   * would take 30 µs. @throws GraupelError as `fillAsync`
   */
  fill(array: BigUint64Array<ArrayBuffer>, tags = 0n): Promise<BigUint64Array> {
    return this.#inTerm((ids) => fillWith(ids, array, tags))
  }

  /**
   * Makes `count` UUIDs of 16 bytes, in ascending order, in the place of ids. @throws GraupelError as
   * `fillAsync`
   */
  fillUuids(count: number, tags = 0n): Promise<Uint8Array> {
    return this.#inTerm((running) => {
      const { layout, next, nextAsync, fill, take, close, stats } = running
      const fillAsync = <A extends IdArray>(array: A) => fillWith(running, array, tags)
      const ids = tags === 0n ? running : { layout, next, nextAsync, fill, take, close, stats, fillAsync }
      return createUuidGenerator({ ids }).fillAsync(new Uint8Array(16 * count))
    })
  }

  /**
   * Lets the ids that are asked for from now on be larger than an id that a client has seen.
   *
   * @throws TypeError, RangeError, GraupelError as `observe` of a generator
   */
  observe(id: bigint): void {
    this.#running().observe(id)
  }

  /** Lets the UUIDs that are asked for from now on be larger than a UUID. @throws as `observe` */
  observeUuid(uuid: string): void {
    createUuidGenerator({ ids: this.#running() }).observe(uuid)
  }

  /** Whether another server of its strict group gives the ids. */
  get isStandby(): boolean {
    return this.#standby?.hasSeenHolder === true && this.#term === undefined
  }

  /** The term of a strict lease, while it has a node. */
  get #term(): Term | undefined {
    return this.#lease?.signal.aborted ? undefined : this.#lease?.term
  }

  /** Milliseconds until a strict source gives no more ids, unless its lease is renewed. */
  get termMs(): number | undefined {
    return this.#standby === undefined ? undefined : (this.#term?.remainingMs ?? 0)
  }

  /**
   * Makes ids; with `strict`, in the term in which they were asked for. @throws StandbyError; as `nextAsync`
   */
  #inTerm<T>(make: (ids: IdGenerator) => Promise<T>): Promise<T> {
    return this.#standby === undefined ? make(this.#running()) : this.#inOneTerm(make)
  }

  /**
   * The request was made before the term was over, and so before any answer of the next holder
   * (docs/order-proof.md, "Strict order").
   */
  async #inOneTerm<T>(make: (ids: IdGenerator) => Promise<T>): Promise<T> {
    // Read before the ids are made: they may be older than a term that begins meanwhile.
    const term = this.#term
    if (term === undefined) throw this.readiness().refusal
    const made = await make(this.#running())
    if (term.isOver) throw lateError()
    return made
  }

  /**
   * Checks that an id can be made now. @throws GraupelError `ERR_LEASE_EXPIRED`, `ERR_CLOCK_ROLLBACK`,
   * `ERR_CLOCK_BEFORE_EPOCH`, `ERR_LAYOUT_EXPIRED`
   */
  check(): void {
    const { refusal } = this.readiness()
    if (refusal !== undefined) throw refusal
  }

  readiness(): Readiness {
    const nowMs = Date.now()
    const lease = this.#lease
    if (this.isStandby) return unready((this.#standby as Standby).refusal(), 0)
    if (lease === undefined || lease.signal.aborted || this.#generator === undefined) {
      // Only the code, because clients see it. A message may name the address of the store.
      const { code } = Object(this.#error) as { code?: unknown }
      const cause = typeof code === 'string' ? ` (${code})` : ''
      return unready(this.#expired(`no node of layout '${this.layout.name}' is leased${cause}`), 0)
    }
    const ceilingMs = Math.max(0, lease.stats().ceilingMs - nowMs)
    const remainingMs = Math.min(ceilingMs, this.termMs ?? Number.POSITIVE_INFINITY)
    const clockError = this.#clockErrorAt(nowMs, this.#generator.stats().aheadMs)
    if (clockError !== undefined) return unready(clockError, remainingMs)
    // If its clock is ahead of the store's, a strict holder that is renewed in time has less of its ceiling
    // left.
    const leftMs = this.termMs ?? ceilingMs
    if (remainingMs > 0 && leftMs > this.#choice.windowMs * lowPart) return { isReady: true, remainingMs }
    const reason = `the store has not renewed the lease of node ${lease.node} of layout '${this.layout.name}' in time`
    return remainingMs > 0 ? { isReady: false, reason, remainingMs } : unready(this.#expired(reason), 0)
  }

  stats(): { readonly ids: Stats; readonly lease: LeaseStats } | undefined {
    if (this.#lease === undefined || this.#generator === undefined) return undefined
    return { ids: this.#generator.stats(), lease: this.#lease.stats() }
  }

  /** Returns its counts since it was made. */
  totals(): Totals {
    const stats = this.stats()
    return stats === undefined ? this.#former : totalsWith(this.#former, stats.ids, stats.lease)
  }

  /** Releases the node. */
  async close(): Promise<void> {
    this.#end.abort()
    this.#standby?.close()
    // A lease that arrives during the closing is released, too.
    await this.#acquiring?.catch(() => {})
    this.#close()
    await this.#lease?.release()
  }

  #running(): IdGenerator {
    if (this.#generator !== undefined) return this.#generator
    throw this.readiness().refusal
  }

  #expired(reason: string): GraupelError {
    return new GraupelError('ERR_LEASE_EXPIRED', reason, { cause: this.#error, retryAfterMs: retryMs })
  }

  /**
   * Makes the error that the generator throws at this time of the clock. No lease changes that, and a clock
   * that was set back makes the lease look longer than it is.
   */
  #clockErrorAt(nowMs: number, aheadMs: number): GraupelError | undefined {
    const { name, epochMs, expiresAt } = this.layout
    // Without the times, because the reasons of several workers are joined.
    if (nowMs < epochMs) {
      const rule = `the clock of this host shows a time before the epoch of layout '${name}'; set the clock`
      return new GraupelError('ERR_CLOCK_BEFORE_EPOCH', rule)
    }
    if (nowMs >= expiresAt.getTime()) {
      const rule = `layout '${name}' has no ids for the time that the clock of this host shows; set the clock, or move to a layout with a later epoch`
      return new GraupelError('ERR_LAYOUT_EXPIRED', rule)
    }
    const lateMs = aheadMs - this.#maxAheadMs
    if (lateMs <= 0) return undefined
    const rule = `the clock of this host was set back behind the last id of layout '${name}'; set the clock, or wait until it has passed that id`
    return new GraupelError('ERR_CLOCK_ROLLBACK', rule, { retryAfterMs: lateMs })
  }

  get #maxAheadMs(): number {
    return Math.max(mostAheadMs, 2 * this.layout.tickMs)
  }

  #acquire(): Promise<void> {
    this.#acquiring = this.#acquireNode()
    return this.#acquiring
  }

  async #acquireNode(): Promise<void> {
    const lease = await acquireLease({ ...this.#choice, layout: this.layout, signal: this.#end.signal })
    try {
      this.#make(lease)
    } catch (error) {
      // Otherwise it would renew itself, and keep its node from this and every other server.
      await lease.release()
      throw error
    }
    this.#lease = lease
    this.#error = undefined
    if (this.#standby !== undefined) lease.on('moved', () => this.#begin(lease))
  }

  #make(lease: Lease): void {
    const { tagFields } = this.layout
    const made = createGenerator({ lease, maxAheadMs: this.#maxAheadMs }) as IdGenerator
    const tags = Object.fromEntries(tagFields.map(({ name }) => [name, 0]))
    this.#close = made.close
    this.#generator = tagFields.length === 0 ? made : (made.with?.(tags) as IdGenerator)
  }

  /** Begins another generator: the present one may still have ids from before another server had the node. */
  #begin(lease: Lease): void {
    const ids = this.#generator?.stats()
    if (ids !== undefined) this.#former = totalsWith(this.#former, ids, noLease)
    this.#close()
    this.#generator = undefined
    try {
      this.#make(lease)
    } catch (error) {
      this.#error = error
      void lease.release()
    }
  }

  async #keep(): Promise<void> {
    const { signal: end } = this.#end
    while (!end.aborted) {
      const { signal } = this.#lease as Lease
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      if (end.aborted) return
      this.#error = signal.reason
      this.#former = this.totals()
      this.#close()
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

const nextOf = (ids: IdGenerator) => ids.nextAsync()

async function fillWith<A extends IdArray>(ids: IdGenerator, array: A, tags: bigint): Promise<A> {
  await ids.fillAsync(array)
  if (tags === 0n) return array
  for (let i = 0; i < array.length; i++) array[i] = (array[i] as bigint) | tags
  return array
}

function unready(refusal: GraupelError | StandbyError, remainingMs: number): Readiness {
  return { isReady: false, reason: refusal.message, refusal, remainingMs }
}

const noLease = { renewals: 0, failures: 0, acquisitions: 0 }
const noTotals = Object.fromEntries(counts.map((name) => [name, 0])) as unknown as Totals

/**
 * Adds the counts of the present lease to the counts of former leases, because a scraped count must not fall
 * when a lease is replaced.
 */
function totalsWith(former: Totals, ids: Stats, { renewals, failures, acquisitions }: typeof noLease): Totals {
  const present: Totals = { ...ids, renewals, failures, acquisitions }
  return Object.fromEntries(counts.map((name) => [name, former[name] + present[name]])) as unknown as Totals
}
