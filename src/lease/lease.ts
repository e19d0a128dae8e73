import { platform } from '#platform'
import { GraupelError } from '../core/errors.js'
import { type LeaseEvent, publish } from '../core/events.js'
import { engineInfo } from '../engine/choose.js'
import { type LeaseHandle, makeHandle } from '../engine/source/handle.js'
import {
  failureOf,
  firstView,
  type LeaseStats,
  type LeaseView,
  SharedLease,
  statsOf,
} from '../engine/source/lease-view.js'
import { endedError, sealNode } from '../engine/source/leased-node.js'
import type { Field, Layout } from '../layout/index.js'
import { StoreCalls } from '../stores/calls.js'
import { tokenAt } from '../stores/token.js'
import { Group } from './group.js'
import type { Exhausted } from './node-search.js'
import type { LeaseChoice } from './options.js'
import { type Holding, LeaseProtocol } from './protocol.js'

/** Milliseconds between two looks for a free node: at most, and drawn from the upper half. */
const waitForNodeMs = 1000
/** Milliseconds before a call is made again that has failed. */
const retryMs = 500

/** What is retried for as long as the lease lives; anything else ends it. */
const retriedCodes: unknown[] = ['ERR_STORE_UNAVAILABLE', 'ERR_STORE_INVALID', 'ERR_CLOCK_SKEW']

/**
 * A node that no other process uses, acquired by {@link acquireLease} and renewed in the background, without keeping the process
 * alive. Pass it to `createGenerator({ lease })`. `await using` releases it.
 *
 * @example
 * const lease = await acquireLease({ store: memoryStore(), nodes: [0, 99] })
 * lease.node < 100 // true
 * await lease.release()
 */
export class Lease<F extends readonly Field[] = readonly Field[]> implements AsyncDisposable {
  /** The layout of the ids that are made with the node. */
  readonly layout: Layout<F>
  /** The namespace in which no other process has the node. */
  readonly namespace: string
  /** Aborted when the lease is over: released, or lost where no other node could be had; the reason is the error that `next()` throws. */
  readonly signal: AbortSignal
  /** For `createGenerator({ lease })` in other threads of this process: pass it as `workerData` or in a message. */
  readonly handle: LeaseHandle<F>
  readonly #choice: LeaseChoice<F>
  readonly #group: Group
  readonly #protocol: LeaseProtocol
  readonly #calls: StoreCalls
  readonly #shared = SharedLease.make()
  readonly #over = new AbortController()
  /** Ends the calls that are under way. */
  readonly #stop = new AbortController()
  /** Whether timers keep the process alive. */
  #isAwaited = true
  #view: LeaseView = firstView
  #holding: Holding | undefined
  #token = newToken()
  #cancelTimer = () => {}
  #exhaustedSinceMs: number | undefined
  readonly #announced = new Set<LeaseEvent['type']>()
  #renewing: Promise<void> | undefined
  #released: Promise<void> | undefined

  /** @internal Use {@link acquireLease}. */
  constructor(choice: LeaseChoice<F>) {
    const { store, layout, namespace, nodes, windowMs, callTimeoutMs } = choice
    this.layout = layout
    this.namespace = namespace
    this.signal = this.#over.signal
    this.#choice = choice
    this.#group = Group.of(layout as unknown as Layout, namespace, nodes)
    const { monotonicMs, wallMs, random, later, background } = platform
    const clock = {
      wallMs,
      monotonicMs,
      random,
      later: (callback: () => void, ms: number) => (this.#isAwaited ? later : background)(callback, ms),
      newToken,
      onWait: (untilMs: number) => this.#waitForServer(untilMs),
    }
    this.#calls = new StoreCalls(store, clock, callTimeoutMs)
    const rules = { ...choice, durable: store.durable, writeMs: 2 * callTimeoutMs }
    this.#protocol = new LeaseProtocol(this.#calls, this.#group, rules, clock)
    const { memory } = this.#shared
    const token = newToken()
    const engine = engineInfo().kind
    this.handle = makeHandle(layout, { namespace, token, store: store.name, engine, windowMs, memory })
  }

  /** The node that it has now. A lease that is lost moves to another one, and its generators with it. */
  get node(): number {
    return this.#view.node
  }

  /** What it has and has done. */
  stats(): LeaseStats {
    return statsOf(this.#view, this.layout)
  }

  /**
   * Gives the node back, for the next process to take at once. Its generators, in all threads, reserve nothing from then on: each
   * thread hands out what it has reserved in the present tick, if that is left, and then they throw `ERR_CLOSED`. No other
   * process makes those ids. A second call waits for the first one.
   *
   * @throws GraupelError `ERR_STORE_UNAVAILABLE` where the store cannot be told; the node is free when its window has passed.
   */
  release(): Promise<void> {
    this.#released ??= this.#release()
    return this.#released
  }

  /** Calls `release()`, for `await using`. @internal */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  /** Waits for a node. @internal */
  async begin(): Promise<this> {
    const { signal, windowMs } = this.#choice
    const startMs = platform.monotonicMs()
    try {
      await this.#acquire(signal)
    } catch (error) {
      await this.#protocol.abandon().catch(() => {})
      throw error
    }
    this.#isAwaited = false
    // At once where it took long, because the window began somewhere on the way.
    this.#schedule(Math.max(0, windowMs / 3 - (platform.monotonicMs() - startMs)))
    return this
  }

  /** Acquires a node, and lets the generators go on with it. */
  async #acquire(signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const got = await this.#protocol.acquire(this.#token, signal)
      if ('held' in got) {
        await this.#waitForNode(got, signal)
        continue
      }
      this.#exhaustedSinceMs = undefined
      await this.#waitForFloor(got, signal)
      return this.#moveTo(got)
    }
  }

  /** Says why it takes some seconds. */
  #waitForServer(untilMs: number): void {
    this.#publish('waiting', { untilMs })
    if (this.#view.generation === 0) return
    this.#change({ failure: 'server is young', failureDetail: untilMs })
  }

  /** Waits until the first id that may be made is one of the present. */
  async #waitForFloor(holding: Holding, signal: AbortSignal | undefined): Promise<void> {
    const untilMs = this.#group.timeOf(holding.record.floor)
    // Once: where the clock steps back meanwhile, the policy of the generators says what to do.
    const leftMs = untilMs - platform.wallMs()
    try {
      signal?.throwIfAborted()
      if (leftMs <= 0) return
      this.#publish('waiting', { untilMs })
      await this.#calls.wait(leftMs, signal)
    } catch (error) {
      await this.#protocol.release(holding, holding.record.floor).catch(() => {})
      throw error
    }
  }

  /** @throws GraupelError `ERR_NODES_EXHAUSTED` after `acquireTimeoutMs`. */
  async #waitForNode({ held, owners, freeAtMs }: Exhausted, signal: AbortSignal | undefined): Promise<void> {
    const { acquireTimeoutMs } = this.#choice
    const nowMs = platform.monotonicMs()
    this.#exhaustedSinceMs ??= nowMs
    const leftMs = this.#exhaustedSinceMs + acquireTimeoutMs - nowMs
    if (leftMs <= 0) {
      const free =
        freeAtMs === undefined ? '' : `; the first of them may be free at ${new Date(freeAtMs).toISOString()}`
      throw new GraupelError(
        'ERR_NODES_EXHAUSTED',
        `every node that this lease may have is held: ${held} of ${this.#group.ids}, by ${owners.join(', ')}; none was free within acquireTimeoutMs (${acquireTimeoutMs})${free}; stop processes, wait longer, or choose a layout with more nodes`,
      )
    }
    if (this.#view.generation > 0) this.#change({ failure: 'nodes are held', failureDetail: held })
    await this.#calls.pause(Math.min(waitForNodeMs, 2 * leftMs), signal)
  }

  /** Goes on with a node that was just acquired. */
  #moveTo(holding: Holding): void {
    const { node, record } = holding
    const before = this.#view
    const isFirst = before.generation === 0
    // Above all that any thread has made on the node before, so that the ids of each caller ascend.
    const floor = isFirst ? record.floor : Math.max(record.floor, this.#seal())
    this.#holding = holding
    this.#announced.clear()
    this.#change({
      renewedMs: platform.wallMs(),
      failure: 'none',
      generation: before.generation + 1,
      node,
      floor,
      ceiling: record.ceiling,
    })
    this.#publish(isFirst ? 'acquired' : 'moved')
  }

  #schedule(ms: number): void {
    this.#change({ isRenewing: false, dueMs: platform.wallMs() + ms })
    this.#cancelTimer = platform.background(() => {
      this.#renewing = this.#renew()
    }, ms)
  }

  async #renew(): Promise<void> {
    const { windowMs } = this.#choice
    const startMs = platform.monotonicMs()
    this.#change({ isRenewing: true })
    try {
      const renewed = await this.#protocol.renew(this.#holding as Holding, this.#stop.signal)
      if (typeof renewed === 'string') await this.#replace(renewed)
      else this.#holding = renewed
      if (this.#stop.signal.aborted) return
      if (typeof renewed !== 'string') this.#keep(renewed, startMs)
      this.#schedule(Math.max(0, windowMs / 3 - (platform.monotonicMs() - startMs)))
    } catch (error) {
      if (this.#stop.signal.aborted) return
      if (!retriedCodes.includes((error as GraupelError).code)) return this.#end(error as Error)
      this.#fail(error as Error)
      this.#schedule(Math.min(retryMs, windowMs / 6))
    }
  }

  #keep({ record }: Holding, startMs: number): void {
    const isLate = platform.wallMs() - this.#view.renewedMs > (this.#choice.windowMs * 2) / 3
    this.#announced.clear()
    this.#change({
      renewedMs: platform.wallMs(),
      roundTripMs: platform.monotonicMs() - startMs,
      failure: 'none',
      ceiling: record.ceiling,
      renewals: this.#view.renewals + 1,
    })
    if (isLate) this.#publish('renewed late')
  }

  /** Acquires a node anew: this one, if its window has only passed; another has had it since where it was lost. */
  async #replace(why: 'lapsed' | 'lost'): Promise<void> {
    this.#announce(why === 'lost' ? 'lost' : 'expired')
    if (why === 'lost') this.#token = newToken()
    await this.#acquire(this.#stop.signal)
  }

  #fail(error: Error): void {
    this.#change({ failure: failureOf(error), failureDetail: 0, failures: this.#view.failures + 1 })
    this.#announce('unreachable', { error })
    if (platform.wallMs() >= this.stats().ceilingMs) this.#announce('expired')
  }

  /** Publishes once until the store acknowledges something. */
  #announce(type: 'expired' | 'lost' | 'unreachable', more?: Pick<LeaseEvent, 'error'>): void {
    if (this.#announced.has(type)) return
    this.#announced.add(type)
    this.#publish(type, more)
  }

  /** It is over, and was not released. */
  #end(error: Error): void {
    this.#seal()
    // Waiting for a node has left the number of nodes that are held.
    const failureDetail = this.#view.failure === 'nodes are held' ? this.#view.failureDetail : 0
    this.#change({ status: 'ended', failure: failureOf(error), failureDetail })
    this.#publish('ended', { error })
    this.#over.abort(endedError(this.#view, error))
  }

  async #release(): Promise<void> {
    this.#cancelTimer()
    this.#isAwaited = true
    this.#stop.abort(endedError({ ...this.#view, status: 'released' }))
    if (this.#view.status !== 'held') return
    const nextTick = this.#seal()
    this.#change({ status: 'released' })
    this.#over.abort(this.#stop.signal.reason)
    // It ends at once, and says what the store has acknowledged.
    await this.#renewing
    await this.#protocol.abandon().catch(() => {})
    await this.#protocol.release(this.#holding as Holding, nextTick)
    this.#publish('released')
  }

  /** Lets no thread make another id on the node that it has; the tick after all that were made. */
  #seal(): number {
    return sealNode({ handle: this.handle, layout: this.layout, shared: this.#shared }, this.#view)
  }

  #change(changes: Partial<LeaseView>): void {
    this.#view = { ...this.#view, ...changes }
    this.#shared.write(this.#view)
  }

  #publish(type: LeaseEvent['type'], more: Pick<LeaseEvent, 'untilMs' | 'error'> = {}): void {
    const { layout, namespace, node } = this
    const { ceilingMs } = this.stats()
    publish('lease', { type, store: this.#choice.store.name, layout: layout.name, namespace, node, ceilingMs, ...more })
  }
}

function newToken(): string {
  return tokenAt(platform.monotonicMs())
}
