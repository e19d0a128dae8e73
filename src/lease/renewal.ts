import { platform } from '#platform'
import type { GraupelError } from '../core/errors.js'
import { raiseMachineGeneration } from '../engine/open.js'
import { endedError } from '../engine/source/leased-node.js'
import { failureOf } from '../engine/source/shared-lease.js'
import { Acquisition } from './acquisition.js'
import type { ResolvedLeaseOptions } from './options.js'
import type { Holding } from './protocol.js'
import type { Publication } from './publication.js'

/** Milliseconds until a failed call is made again. */
const retryMs = 500

/** The errors after which the lease tries again. Any other error ends the lease. */
const retriedCodes: unknown[] = ['ERR_STORE_UNAVAILABLE', 'ERR_STORE_INVALID', 'ERR_STORE_UNSAFE', 'ERR_CLOCK_SKEW']

/**
 * Keeps a node leased: acquires a node, and renews the lease by a timer that does not keep the process alive.
 * If the lease has lapsed or was lost, acquires a node anew. The lease is over when it was released, or when
 * no node could be acquired.
 */
export class Renewal {
  readonly #options: ResolvedLeaseOptions
  readonly #publication: Publication
  readonly #acquisition: Acquisition
  readonly #over = new AbortController()
  #holding: Holding | undefined
  #cancelTimer = () => {}
  #renewing: Promise<void> | undefined
  #released: Promise<void> | undefined
  #isParked = false
  /** The tick after all ticks that were used before the node was parked. A second seal could not tell it. */
  #parkedTick: number | undefined

  constructor(options: ResolvedLeaseOptions, publication: Publication) {
    this.#options = options
    this.#publication = publication
    this.#acquisition = new Acquisition(options, publication)
    publication.onCopied(() => this.#renewSoon())
  }

  /** Aborted when the lease is over. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Acquires the first node. @throws as {@link Acquisition.acquire}; nothing is held then */
  async begin(): Promise<void> {
    const startMs = platform.monotonicMs()
    try {
      const { signal } = this.#options
      const holding = await this.#acquisition.acquire(signal)
      const place = await this.#acquisition.place(signal)
      if (signal?.aborted) {
        await this.#acquisition.giveBack(holding)
        throw signal.reason
      }
      this.#moveTo(holding, place)
    } catch (error) {
      await this.#acquisition.abandon()
      throw error
    }
    this.#acquisition.isAwaited = false
    this.#scheduleFrom(startMs)
  }

  /** Gives the node back. @throws GraupelError `ERR_STORE_UNAVAILABLE` if the store cannot be told */
  release(): Promise<void> {
    this.#released ??= this.#release()
    return this.#released
  }

  /** Seals the node and gives it back. No thread makes an id until `resume`. @throws as `release` */
  async park(): Promise<void> {
    if (this.#isParked || this.#publication.view.status !== 'held') return
    this.#isParked = true
    this.#cancelTimer()
    // Asked before sealing: a copy that is made from here on is sealed as well.
    const { isCopied } = this.#acquisition
    // Also drops the runs that threads still have: in a copy, the clock may show their tick again.
    raiseMachineGeneration()
    const nextTick = this.#publication.seal()
    this.#parkedTick = nextTick
    this.#publication.change({ failure: 'parked', failureDetail: 0, isRenewing: false })
    await this.#renewing
    this.#cancelTimer()
    if (!isCopied) await this.#acquisition.protocol.release(this.#holding as Holding, nextTick)
    this.#publication.publish('parked')
  }

  /**
   * Acquires a node again after `park`, or at once if the machine was copied. @throws as {@link
   * Acquisition.acquire}
   */
  async resume(): Promise<void> {
    if (this.#publication.view.status !== 'held') throw endedError(this.#publication.view)
    this.#isParked = true
    raiseMachineGeneration()
    this.#cancelTimer()
    await this.#renewing
    this.#cancelTimer()
    const startMs = platform.monotonicMs()
    this.#acquisition.isAwaited = true
    try {
      this.#moveTo(await this.#acquisition.acquire(this.#over.signal))
    } finally {
      this.#acquisition.isAwaited = false
    }
    this.#isParked = false
    this.#scheduleFrom(startMs)
  }

  #renewSoon(): void {
    const { isRenewing, failure } = this.#publication.view
    if (this.#isParked || isRenewing || failure !== 'none' || this.signal.aborted) return
    this.#cancelTimer()
    this.#renewing = this.#renew()
  }

  /** Sets the timer to a third of the window, which began when the store was called. */
  #scheduleFrom(startMs: number): void {
    this.#schedule(Math.max(0, this.#options.windowMs / 3 - (platform.monotonicMs() - startMs)))
  }

  #schedule(ms: number): void {
    this.#publication.change({ isRenewing: false, dueMs: platform.wallMs() + ms })
    this.#cancelTimer = platform.background(() => {
      this.#renewing = this.#renew()
    }, ms)
  }

  async #renew(): Promise<void> {
    const { signal } = this.#over
    const startMs = platform.monotonicMs()
    this.#publication.change({ isRenewing: true })
    try {
      // A copy of the machine does not touch the record: the node belongs to the original.
      const renewed = this.#acquisition.isCopied
        ? 'copied'
        : await this.#acquisition.protocol.renew(this.#holding as Holding, signal)
      if (typeof renewed === 'string') await this.#replace(renewed)
      else if (this.#acquisition.isCopied) await this.#replace('copied')
      else this.#holding = renewed
      if (signal.aborted || this.#isParked) return
      if (this.#holding === renewed) this.#keep(renewed, startMs)
      this.#scheduleFrom(startMs)
    } catch (error) {
      if (signal.aborted || this.#isParked) return
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
    if (isLate) this.#publication.publish('late')
  }

  /** Acquires a node anew. A lease that has only lapsed gets the same node, if it is still free. */
  async #replace(why: 'lapsed' | 'lost' | 'copied'): Promise<void> {
    this.#publication.announce(why === 'lapsed' ? 'expired' : why)
    if (why === 'lost') this.#acquisition.forget()
    this.#moveTo(await this.#acquisition.acquire(this.#over.signal))
  }

  /**
   * Lets the generators go on with a node that was just acquired. @param place - The place of its record, for
   * the event.
   */
  #moveTo(holding: Holding, place?: string): void {
    const { node, record } = holding
    const isFirst = !this.#publication.hasNode
    // The floor is above all ids that any thread has made on the node before, so the ids of each caller
    // ascend.
    const floor = isFirst ? record.floor : Math.max(record.floor, this.#parkedTick ?? this.#publication.seal())
    this.#parkedTick = undefined
    const generation = this.#publication.view.generation + 1
    this.#holding = holding
    const { machine } = this.#acquisition
    this.#publication.acknowledge({ generation, node, machine, floor, ceiling: record.ceiling })
    this.#publication.publish(isFirst ? 'acquired' : 'moved', place === undefined ? {} : { place })
  }

  #fail(error: Error): void {
    const failures = this.#publication.view.failures + 1
    this.#publication.change({ failure: failureOf(error), failureDetail: 0, failures })
    this.#publication.announce('unreachable', { error })
    if (platform.wallMs() >= this.#publication.stats().ceilingMs) this.#publication.announce('expired')
  }

  /** Ends the lease, because no node could be acquired. */
  #end(error: Error): void {
    this.#publication.seal()
    // An acquisition that waits for a node publishes how many are held.
    const { failure, failureDetail } = this.#publication.view
    const detail = failure === 'nodes are held' ? failureDetail : 0
    this.#publication.change({ status: 'ended', failure: failureOf(error), failureDetail: detail })
    this.#publication.publish('ended', { error })
    this.#over.abort(endedError(this.#publication.view, error))
  }

  async #release(): Promise<void> {
    this.#cancelTimer()
    this.#acquisition.isAwaited = true
    if (this.#publication.view.status !== 'held') return
    const nextTick = this.#publication.seal()
    this.#publication.change({ status: 'released' })
    this.#over.abort(endedError(this.#publication.view))
    // The renewal ends at once, because its signal is aborted. It leaves in `#holding` what the store has
    // acknowledged.
    await this.#renewing
    await this.#acquisition.abandon()
    // Asked after sealing: if the machine was not copied before, all copies are sealed.
    if (!this.#isParked && !this.#acquisition.isCopied) {
      await this.#acquisition.protocol.release(this.#holding as Holding, nextTick)
    }
    this.#publication.publish('released')
  }
}
