import { platform } from '#platform'
import { GraupelError } from '../core/errors.js'
import { endedError } from '../engine/source/leased-node.js'
import { failureOf } from '../engine/source/shared-lease.js'
import { Acquisition } from './acquisition.js'
import { HeldNode } from './held-node.js'
import { announceCopy, type GenerationChange, type HookedLease, hookedLeases } from './hooks.js'
import { isAwaited, isParked, type Phase } from './phase.js'
import type { Holding } from './protocol.js'
import type { Publication } from './publication.js'
import type { ResolvedLeaseOptions } from './resolve.js'
import type { Term } from './term.js'
import { WorkQueue } from './work-queue.js'

/** Milliseconds until a failed call is made again. */
const retryMs = 500

/** The errors after which the lease tries again. Any other error ends the lease. */
const retriedCodes: unknown[] = ['ERR_STORE_UNAVAILABLE', 'ERR_STORE_INVALID', 'ERR_STORE_UNSAFE', 'ERR_CLOCK_SKEW']

/**
 * Keeps a node leased: acquires a node, and renews the lease by a timer that does not keep the process alive.
 * If the lease has lapsed or was lost, acquires a node anew. The lease is over when it was released, or when
 * no node could be acquired.
 */
export class Renewal implements HookedLease {
  readonly #options: ResolvedLeaseOptions
  readonly #publication: Publication
  readonly #acquisition: Acquisition
  readonly #node: HeldNode
  readonly #queue = new WorkQueue()
  readonly #over = new AbortController()
  #cancelTimer = () => {}
  /** The number of the hook that has parked the lease. */
  #parkedAt = Number.POSITIVE_INFINITY
  resumedAt = 0

  constructor(options: ResolvedLeaseOptions, publication: Publication) {
    this.#options = options
    this.#publication = publication
    this.#acquisition = new Acquisition(options, publication, () => isAwaited(this.phase))
    const { strict, windowMs } = options
    this.#node = new HeldNode(this.#acquisition.protocol, publication, strict ? windowMs : undefined)
    publication.onCopied(() => this.wake())
  }

  /** Aborted when the lease is over. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** The term of a strict lease; `undefined` if it has no node. */
  get term(): Term | undefined {
    return this.#node.term
  }

  get phase(): Phase {
    return this.#queue.phase
  }

  /** Acquires the first node. @throws as {@link Acquisition.acquire}; nothing is held then */
  async begin(): Promise<void> {
    const startMs = platform.monotonicMs()
    hookedLeases.add(this)
    try {
      await this.#move(this.#options.signal)
    } catch (error) {
      await this.#acquisition.abandon().catch(() => {})
      hookedLeases.delete(this)
      throw error
    }
    this.#scheduleFrom(startMs)
  }

  /** Gives the node back. If the store cannot be told, the event has the error, and the node lapses. */
  release(): Promise<void> {
    if (!this.#queue.enter('release')) return this.#queue.last
    hookedLeases.delete(this)
    this.#node.seal()
    this.#publication.change({ status: 'released' })
    const reason = endedError(this.#publication.view)
    // Asked after sealing: if the machine was not copied before, all copies are sealed.
    const { isOriginal } = this.#node
    const given = this.#begin((signal) => this.#giveBack('released', isOriginal, signal), reason)
    // A listener may call a hook, or release(), which returns the work that was begun last.
    this.#over.abort(reason)
    return given
  }

  /**
   * Seals the node and gives it back. No thread makes an id until `resume`.
   *
   * @throws GraupelError `ERR_STORE_UNAVAILABLE` if the store cannot be told
   */
  park(): Promise<void> {
    if (this.phase === 'parking') return this.#queue.last
    if (!this.#queue.enter('park')) {
      // The lease has no node to give back, but the machine is about to be copied.
      const { at, change } = announceCopy(
        this,
        () => {},
        () => true,
      )
      this.#parkedAt = at
      if (change !== undefined) this.goOn(change)
      return this.#queue.idle
    }
    const { generation } = this.#node
    const { at, change } = this.#announce(() => true)
    this.#parkedAt = at
    // An acquisition that is aborted gives back its node. No copy uses that node: it is aborted as well.
    if (change !== undefined) this.#acquisition.goOn(change)
    const reason = new GraupelError(
      'ERR_LEASE_EXPIRED',
      'lease.park() was called before lease.resume() had acquired a node; call lease.resume() again after the copy',
    )
    return this.#begin((signal) => this.#giveBack('parked', generation === change?.before, signal), reason)
  }

  /**
   * Acquires a node again after `park`, or at once if the machine was copied. @throws as {@link
   * Acquisition.acquire}; GraupelError `ERR_LEASE_EXPIRED`, `ERR_CLOSED` if `park`, `release` end it
   */
  resume(): Promise<void> {
    const { phase } = this
    const goesOn = (other: HookedLease) => other.resumedAt > this.#parkedAt
    if (phase !== 'resuming' && !this.#queue.enter('resume')) {
      announceCopy(this, () => {}, goesOn)
      return Promise.reject(endedError(this.#publication.view))
    }
    const { at, change } = this.#announce(goesOn)
    this.resumedAt = at
    if (phase === 'resuming') {
      // If the first call has tried to take no node, no copy shares a node with it.
      if (change !== undefined && !this.#acquisition.protocol.hasTried) this.#acquisition.goOn(change)
      return this.#queue.last
    }
    // A lease that was not parked may be in a copy, where its node belongs to the original.
    if (!isParked(phase)) this.#node.leave()
    return this.#begin((signal) => this.#resume(signal))
  }

  goOn(change: GenerationChange): void {
    this.#acquisition.goOn(change)
    this.#node.goOn(change)
  }

  wake(): void {
    if (!this.#node.isOriginal && this.#queue.enter('woken')) this.#begin((signal) => this.#renew(signal))
  }

  #begin(work: (signal: AbortSignal) => Promise<void>, reason?: unknown): Promise<void> {
    this.#cancelTimer()
    return this.#queue.begin(work, reason)
  }

  /** Announces a copy of the machine, and seals. Threads also drop the runs that they still have. */
  #announce(goesOn: (other: HookedLease) => boolean) {
    const announced = announceCopy(this, () => this.#node.seal(), goesOn)
    this.#publication.change({ failure: 'parked', failureDetail: 0, isRenewing: false })
    return announced
  }

  async #giveBack(event: 'parked' | 'released', isOriginal: boolean, signal: AbortSignal): Promise<void> {
    if (!isOriginal) this.#node.leave()
    let error: Error | undefined
    try {
      // The former node first: a write that lands lets the protocol forget unanswered attempts.
      await this.#node.giveBack().finally(() => this.#acquisition.abandon())
    } catch (thrown) {
      error = thrown as Error
    }
    this.#queue.leave('given back', signal)
    this.#publication.publish(event, error === undefined ? {} : { error })
    // Whoever copies the machine may wait for the store. A process that ends cannot do anything about it.
    if (event === 'parked' && error !== undefined) throw error
  }

  async #resume(signal: AbortSignal): Promise<void> {
    const startMs = platform.monotonicMs()
    try {
      await this.#move(signal)
    } catch (error) {
      // If `park()` or `release()` has aborted this work, the work of that call gives the attempt back.
      if (!signal.aborted) await this.#acquisition.abandon(signal).catch(() => {})
      this.#queue.leave('failed', signal)
      if (!signal.aborted) this.#publication.change({ failure: 'parked', failureDetail: 0 })
      throw error
    }
    this.#scheduleFrom(startMs)
  }

  /** Sets the timer to a third of the window, which began when the store was called. */
  #scheduleFrom(startMs: number): void {
    this.#schedule(Math.max(0, this.#options.windowMs / 3 - (platform.monotonicMs() - startMs)))
  }

  #schedule(ms: number): void {
    // A program that hears an event may have called park() or release() at once.
    if (this.phase !== 'held' && this.phase !== 'failing') return
    this.#publication.change({ isRenewing: false, dueMs: platform.wallMs() + ms })
    this.#cancelTimer = platform.background(() => {
      if (this.#queue.enter('due')) this.#begin((signal) => this.#renew(signal))
    }, ms)
  }

  async #renew(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const startMs = platform.monotonicMs()
    this.#publication.change({ isRenewing: true })
    try {
      const renewed = this.#node.isOriginal ? await this.#node.renew(signal) : 'copied'
      signal.throwIfAborted()
      if (!this.#node.isOriginal) await this.#replace('copied', signal)
      else if (typeof renewed === 'string') await this.#replace(renewed, signal)
      else this.#keep(renewed, startMs)
      this.#scheduleFrom(startMs)
    } catch (error) {
      if (signal.aborted) return
      if (!retriedCodes.includes((error as GraupelError).code)) return this.#end(error as Error)
      this.#fail(error as Error)
      this.#schedule(Math.min(retryMs, this.#options.windowMs / 6))
    }
  }

  /** Lets the generators go on below the ceiling that the store has acknowledged. */
  #keep({ record }: Holding, startMs: number): void {
    const { renewedMs, renewals } = this.#publication.view
    const isLate = platform.wallMs() - renewedMs > (this.#options.windowMs * 2) / 3
    this.#publication.acknowledge({
      roundTripMs: platform.monotonicMs() - startMs,
      ceiling: record.ceiling,
      renewals: renewals + 1,
    })
    this.#queue.enter('renewed')
    if (isLate) this.#publication.publish('late')
  }

  /** Acquires a node anew. A lease that has only lapsed gets the same node, if it is still free. */
  async #replace(why: 'lapsed' | 'lost' | 'copied', signal: AbortSignal): Promise<void> {
    this.#queue.enter('gone')
    this.#node.endTerm()
    this.#publication.announce(why === 'lapsed' ? 'expired' : why)
    if (why === 'lost') this.#acquisition.forget(this.#node.token)
    await this.#move(signal)
  }

  /** Acquires a node, and lets the generators go on with it, unless the work is aborted before. */
  async #move(signal: AbortSignal | undefined): Promise<void> {
    const isFirst = !this.#publication.hasNode
    // Before the node is acquired, because the call may take longer than the window.
    const place = await this.#acquisition.place(signal)
    const holding = await this.#acquisition.acquire(signal)
    // `begin`, or the work of the call that has aborted this work, then abandons the node.
    signal?.throwIfAborted()
    const { generation, sent } = this.#acquisition
    const { node, record } = holding
    const floor = this.#node.moveTo(holding, generation, isFirst, sent)
    this.#parkedAt = Number.POSITIVE_INFINITY
    const acquisition = this.#publication.view.acquisition + 1
    this.#publication.acknowledge({ acquisition, node, generation, floor, ceiling: record.ceiling })
    this.#queue.enter('acquired')
    this.#publication.publish(isFirst ? 'acquired' : 'moved', place === undefined ? {} : { place })
  }

  #fail(error: Error): void {
    this.#queue.enter('failed')
    const failures = this.#publication.view.failures + 1
    this.#publication.change({ failure: failureOf(error), failureDetail: 0, failures })
    this.#publication.announce('unreachable', { error })
    if (platform.wallMs() >= this.#publication.stats().ceilingMs) this.#publication.announce('expired')
  }

  /** Ends the lease, because no node could be acquired. */
  #end(error: Error): void {
    this.#queue.enter('refused')
    hookedLeases.delete(this)
    this.#node.seal()
    // An acquisition that waits for a node publishes how many are held.
    const { failure, failureDetail } = this.#publication.view
    const detail = failure === 'nodes are held' ? failureDetail : 0
    this.#publication.change({ status: 'ended', failure: failureOf(error), failureDetail: detail })
    this.#publication.publish('ended', { error })
    this.#over.abort(endedError(this.#publication.view, error))
    void this.#acquisition.abandon().catch(() => {})
  }
}
