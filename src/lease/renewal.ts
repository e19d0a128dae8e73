import { platform } from '#platform'
import type { GraupelError } from '../core/errors.js'
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
 * Keeps a node leased: acquires a node, and renews the lease by a timer that does not keep the process alive. If the lease has lapsed or was
 * lost, acquires a node anew. The lease is over when it was released, or when no node could be acquired.
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

  constructor(options: ResolvedLeaseOptions, publication: Publication) {
    this.#options = options
    this.#publication = publication
    this.#acquisition = new Acquisition(options, publication)
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
      this.#moveTo(holding, await this.#acquisition.place(signal))
    } catch (error) {
      await this.#acquisition.protocol.abandon().catch(() => {})
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
      const renewed = await this.#acquisition.protocol.renew(this.#holding as Holding, signal)
      if (typeof renewed === 'string') await this.#replace(renewed)
      else this.#holding = renewed
      if (signal.aborted) return
      if (typeof renewed !== 'string') this.#keep(renewed, startMs)
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
    if (isLate) this.#publication.publish('late')
  }

  /** Acquires a node anew. A lease that has only lapsed gets the same node, if it is still free. */
  async #replace(why: 'lapsed' | 'lost'): Promise<void> {
    this.#publication.announce(why === 'lost' ? 'lost' : 'expired')
    if (why === 'lost') this.#acquisition.forget()
    this.#moveTo(await this.#acquisition.acquire(this.#over.signal))
  }

  /** Lets the generators go on with a node that was just acquired. @param place - The place of its record, for the event. */
  #moveTo(holding: Holding, place?: string): void {
    const { node, record } = holding
    const isFirst = !this.#publication.hasNode
    // The floor is above all ids that any thread has made on the node before, so the ids of each caller ascend.
    const floor = isFirst ? record.floor : Math.max(record.floor, this.#publication.seal())
    const generation = this.#publication.view.generation + 1
    this.#holding = holding
    this.#publication.acknowledge({ generation, node, floor, ceiling: record.ceiling })
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
    // The renewal ends at once, because its signal is aborted. It leaves in `#holding` what the store has acknowledged.
    await this.#renewing
    await this.#acquisition.protocol.abandon().catch(() => {})
    await this.#acquisition.protocol.release(this.#holding as Holding, nextTick)
    this.#publication.publish('released')
  }
}
