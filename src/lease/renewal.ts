import { platform } from '#platform'
import { GraupelError } from '../core/errors.js'
import { machineGeneration } from '../engine/open.js'
import { endedError } from '../engine/source/leased-node.js'
import { failureOf } from '../engine/source/shared-lease.js'
import { Acquisition } from './acquisition.js'
import { announceCopy, type HookedLease, type HookStep, hookedLeases } from './hooks.js'
import type { ResolvedLeaseOptions } from './options.js'
import { isAwaited, isParked, next, type Phase, type PhaseEvent } from './phase.js'
import type { Holding } from './protocol.js'
import type { Publication } from './publication.js'

/** Milliseconds until a failed call is made again. */
const retryMs = 500

/** The errors after which the lease tries again. Any other error ends the lease. */
const retriedCodes: unknown[] = ['ERR_STORE_UNAVAILABLE', 'ERR_STORE_INVALID', 'ERR_STORE_UNSAFE', 'ERR_CLOCK_SKEW']

/** A node that the lease has, and the machine that has it. */
interface HeldNode extends Holding {
  /** The generation of the machine. In a copy of the machine, the node belongs to the original. */
  readonly machine: number
}

/**
 * Keeps a node leased: acquires a node, and renews the lease by a timer that does not keep the process alive.
 * If the lease has lapsed or was lost, acquires a node anew. The lease is over when it was released, or when
 * no node could be acquired.
 *
 * Renewals and the calls of the program are one queue. Each call aborts what is under way, and waits for it.
 * Work whose signal is aborted changes no phase: the call that has aborted it has decided the phase.
 */
export class Renewal implements HookedLease {
  readonly #options: ResolvedLeaseOptions
  readonly #publication: Publication
  readonly #acquisition: Acquisition
  readonly #over = new AbortController()
  #phase: Phase = 'acquiring'
  /** The node whose record this lease may write; `undefined` while the lease has none. */
  #held: HeldNode | undefined
  /** The tick after all ticks that were used, if the state is sealed. A second seal could not tell it. */
  #sealedTick: number | undefined
  #cancelTimer = () => {}
  /** The work that is under way, or is the last in the queue. */
  #work = new AbortController()
  #queue: Promise<void> = Promise.resolve()
  #last: Promise<void> = Promise.resolve()
  #parkedAt = Number.POSITIVE_INFINITY
  resumedAt = 0

  constructor(options: ResolvedLeaseOptions, publication: Publication) {
    this.#options = options
    this.#publication = publication
    this.#acquisition = new Acquisition(options, publication, () => isAwaited(this.#phase))
    publication.onCopied(() => this.wake())
  }

  /** Aborted when the lease is over. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Describes the lease for people. @param isExpired - Whether its ceiling has passed. */
  state(isExpired: boolean): 'held' | 'expired' | 'parked' | 'released' | 'ended' {
    if (this.#phase === 'releasing' || this.#phase === 'released') return 'released'
    if (isParked(this.#phase)) return 'parked'
    if (this.#phase === 'ended') return 'ended'
    return isExpired ? 'expired' : 'held'
  }

  /** Acquires the first node. @throws as {@link Acquisition.acquire}; nothing is held then */
  async begin(): Promise<void> {
    const startMs = platform.monotonicMs()
    hookedLeases.add(this)
    try {
      await this.#move(this.#options.signal)
    } catch (error) {
      hookedLeases.delete(this)
      throw error
    }
    this.#scheduleFrom(startMs)
  }

  /** Gives the node back. @throws GraupelError `ERR_STORE_UNAVAILABLE` if the store cannot be told */
  release(): Promise<void> {
    if (!this.#enter('release')) return this.#last
    hookedLeases.delete(this)
    this.#seal()
    this.#publication.change({ status: 'released' })
    const reason = endedError(this.#publication.view)
    this.#over.abort(reason)
    // Asked after sealing: if the machine was not copied before, all copies are sealed.
    const isOriginal = this.#isOriginal
    return this.#begin(reason, (signal) => this.#giveBack('released', isOriginal, signal))
  }

  /** Seals the node and gives it back. No thread makes an id until `resume`. @throws as `release` */
  park(): Promise<void> {
    if (this.#phase === 'parking') return this.#last
    if (!this.#enter('park')) return this.#queue
    const machine = this.#held?.machine
    // Also drops the runs that threads still have: in a copy, the clock may show their tick again.
    const { at, step } = this.#announce(() => true)
    this.#parkedAt = at
    // An acquisition that is aborted gives back its node, which no copy can use: every copy is aborted as well.
    if (step !== undefined) this.#acquisition.goOn(step)
    const reason = new GraupelError(
      'ERR_LEASE_EXPIRED',
      `lease.park() was called while lease.resume() acquired a node; call lease.resume() again after the copy`,
    )
    // A copy that is made from here on is sealed as well.
    return this.#begin(reason, (signal) => this.#giveBack('parked', machine === step?.before, signal))
  }

  /**
   * Acquires a node again after `park`, or at once if the machine was copied. @throws as {@link
   * Acquisition.acquire}; GraupelError `ERR_LEASE_EXPIRED` if `park` is called meanwhile
   */
  resume(): Promise<void> {
    const isResuming = this.#phase === 'resuming'
    const isSealed = isParked(this.#phase)
    if (!isResuming && !this.#enter('resume')) return Promise.reject(endedError(this.#publication.view))
    const { at, step } = this.#announce((other) => other.resumedAt > this.#parkedAt)
    this.resumedAt = at
    if (isResuming) {
      // If the first call has written no record, no copy has the node that it acquires.
      if (step !== undefined && !this.#acquisition.protocol.hasTried) this.#acquisition.goOn(step)
      return this.#last
    }
    // A lease that was not parked may be in a copy, and its node the original's.
    if (!isSealed) this.#held = undefined
    return this.#begin(undefined, (signal) => this.#resume(signal))
  }

  goOn(step: HookStep): void {
    this.#acquisition.goOn(step)
    if (this.#held?.machine !== step.before || this.#sealedTick !== undefined) return
    const floor = Math.max(this.#publication.view.floor, this.#publication.seal())
    // Not if a device has told of a copy meanwhile: then the seal ends the lease of this machine.
    if (machineGeneration() !== step.after) return
    this.#held = { ...this.#held, machine: step.after }
    this.#publication.change({ machine: step.after, floor })
  }

  wake(): void {
    if (this.#isOriginal || !this.#enter('woken')) return
    this.#begin(undefined, (signal) => this.#renew(signal))
  }

  /** Whether no copy was made since the node was acquired. A copy writes no record of the node. */
  get #isOriginal(): boolean {
    return this.#held?.machine === machineGeneration()
  }

  /** Changes the phase. @returns whether the event changes it */
  #enter(event: PhaseEvent): boolean {
    const phase = next(this.#phase, event)
    if (phase !== undefined) this.#phase = phase
    return phase !== undefined
  }

  /** Aborts what is under way, for a reason, and begins other work when that has ended. */
  #begin(reason: unknown, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#cancelTimer()
    this.#work.abort(reason)
    this.#work = new AbortController()
    const { signal } = this.#work
    this.#last = this.#queue.then(() => work(signal))
    this.#queue = this.#last.catch(() => {})
    return this.#last
  }

  /** Seals the state, and tells the other threads and leases that a copy of the machine is announced. */
  #announce(goesOn: (other: HookedLease) => boolean) {
    const announced = announceCopy(this, () => this.#seal(), goesOn)
    this.#publication.change({ failure: 'parked', failureDetail: 0, isRenewing: false })
    return announced
  }

  #seal(): number {
    this.#sealedTick ??= this.#publication.seal()
    return this.#sealedTick
  }

  async #giveBack(event: 'parked' | 'released', isOriginal: boolean, signal: AbortSignal): Promise<void> {
    const held = this.#held
    this.#held = undefined
    try {
      if (held !== undefined && isOriginal) await this.#acquisition.protocol.release(held, this.#seal())
    } finally {
      if (!signal.aborted) this.#enter('given back')
    }
    this.#publication.publish(event)
  }

  async #resume(signal: AbortSignal): Promise<void> {
    const startMs = platform.monotonicMs()
    try {
      await this.#move(signal)
    } catch (error) {
      if (!signal.aborted) {
        this.#enter('failed')
        this.#publication.change({ failure: 'parked', failureDetail: 0 })
      }
      throw error
    }
    this.#scheduleFrom(startMs)
  }

  /** Sets the timer to a third of the window, which began when the store was called. */
  #scheduleFrom(startMs: number): void {
    this.#schedule(Math.max(0, this.#options.windowMs / 3 - (platform.monotonicMs() - startMs)))
  }

  #schedule(ms: number): void {
    this.#publication.change({ isRenewing: false, dueMs: platform.wallMs() + ms })
    this.#cancelTimer = platform.background(() => {
      if (this.#enter('due')) this.#begin(undefined, (signal) => this.#renew(signal))
    }, ms)
  }

  async #renew(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const startMs = platform.monotonicMs()
    this.#publication.change({ isRenewing: true })
    try {
      const why = this.#isOriginal ? await this.#tryToRenew(startMs, signal) : 'copied'
      if (why !== undefined) await this.#replace(why, signal)
      if (!signal.aborted) this.#scheduleFrom(startMs)
    } catch (error) {
      if (signal.aborted) return
      if (!retriedCodes.includes((error as GraupelError).code)) return this.#end(error as Error)
      this.#fail(error as Error)
      this.#schedule(Math.min(retryMs, this.#options.windowMs / 6))
    }
  }

  /** Raises the ceiling. @returns why the node cannot be renewed */
  async #tryToRenew(startMs: number, signal: AbortSignal): Promise<'lapsed' | 'lost' | 'copied' | undefined> {
    const renewed = await this.#acquisition.protocol.renew(this.#held as HeldNode, signal)
    const isRenewed = typeof renewed !== 'string'
    // Also if a call of the program has come: it gives back what the store has acknowledged.
    if (isRenewed && this.#held !== undefined) this.#held = { ...renewed, machine: this.#held.machine }
    signal.throwIfAborted()
    if (!this.#isOriginal) return 'copied'
    if (!isRenewed) return renewed
    this.#keep(renewed, startMs)
    return undefined
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
    this.#enter('renewed')
    if (isLate) this.#publication.publish('late')
  }

  /** Acquires a node anew. A lease that has only lapsed gets the same node, if it is still free. */
  async #replace(why: 'lapsed' | 'lost' | 'copied', signal: AbortSignal): Promise<void> {
    this.#enter('gone')
    this.#publication.announce(why === 'lapsed' ? 'expired' : why)
    if (why === 'lost') this.#acquisition.forget((this.#held as HeldNode).record.token)
    await this.#move(signal)
  }

  /** Acquires a node, and lets the generators go on with it, unless the work is aborted before. */
  async #move(signal: AbortSignal | undefined): Promise<void> {
    const isFirst = !this.#publication.hasNode
    let holding: Holding
    try {
      holding = await this.#acquisition.acquire(signal)
    } catch (error) {
      // Otherwise another attempt follows, and finds the node by the token.
      if (signal?.aborted || isAwaited(this.#phase)) await this.#acquisition.abandon()
      throw error
    }
    const place = isFirst ? await this.#acquisition.place(signal) : undefined
    if (signal?.aborted) {
      await this.#acquisition.giveBack(holding)
      throw signal.reason
    }
    // The floor is above all ids that any thread has made on the node before, so the ids of each caller
    // ascend.
    const { floor, ceiling } = holding.record
    const first = isFirst ? floor : Math.max(floor, this.#seal())
    const { machine } = this.#acquisition
    this.#sealedTick = undefined
    this.#parkedAt = Number.POSITIVE_INFINITY
    this.#held = { ...holding, machine }
    const generation = this.#publication.view.generation + 1
    this.#publication.acknowledge({ generation, node: holding.node, machine, floor: first, ceiling })
    this.#enter('acquired')
    this.#publication.publish(isFirst ? 'acquired' : 'moved', place === undefined ? {} : { place })
  }

  #fail(error: Error): void {
    this.#enter('failed')
    const failures = this.#publication.view.failures + 1
    this.#publication.change({ failure: failureOf(error), failureDetail: 0, failures })
    this.#publication.announce('unreachable', { error })
    if (platform.wallMs() >= this.#publication.stats().ceilingMs) this.#publication.announce('expired')
  }

  /** Ends the lease, because no node could be acquired. */
  #end(error: Error): void {
    this.#enter('refused')
    hookedLeases.delete(this)
    this.#seal()
    // An acquisition that waits for a node publishes how many are held.
    const { failure, failureDetail } = this.#publication.view
    const detail = failure === 'nodes are held' ? failureDetail : 0
    this.#publication.change({ status: 'ended', failure: failureOf(error), failureDetail: detail })
    this.#publication.publish('ended', { error })
    this.#over.abort(endedError(this.#publication.view, error))
  }
}
