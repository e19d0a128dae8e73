import { platform } from '#platform'
import { showByJson } from '../core/errors.js'
import { requireReach } from '../engine/generation.js'
import type { LeaseHandle, LeaseStats } from '../engine/source/shared-lease.js'
import type { Field, Layout, layouts } from '../layout/index.js'
import type { LeaseEvent } from '../platform/events.js'
import type { LeaseOptions } from './options.js'
import { describePhase } from './phase.js'
import { Publication } from './publication.js'
import { Renewal } from './renewal.js'
import { resolveLeaseOptions } from './resolve.js'
import type { Term } from './term.js'

/**
 * Leases a node from a store. No other process has the node, even with wrong clocks and long pauses
 * (docs/leases.md). Waits for a free node. On a store that may forget what it has acknowledged, the first
 * lease after every start of the server takes eleven seconds.
 *
 * @param options - `store` is required; {@link LeaseOptions} describes all.
 * @throws TypeError `ERR_OPTION_UNKNOWN`, `ERR_LAYOUT_INVALID`; TypeError, RangeError `ERR_OPTION_INVALID`,
 * `ERR_NODE_INVALID`; RangeError `ERR_EPOCH_INVALID`, `ERR_LAYOUT_DECODE_ONLY`; GraupelError
 * `ERR_CLOCK_BEFORE_EPOCH`, `ERR_LAYOUT_EXPIRED`, `ERR_NODES_EXHAUSTED`, `ERR_CLOCK_SKEW`,
 * `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`, `ERR_STORE_UNSAFE`, `ERR_STATE_MISMATCH`,
 * `ERR_STATE_CORRUPT`; `ERR_NATIVE_UNAVAILABLE` as `engineInfo`; `ERR_STATE_UNREACHABLE` while
 * `node --build-snapshot` runs, or if this thread has no native engine and the process makes ids by it; the
 * reason of `signal`.
 * Nothing is held then.
 * @example
 * const lease = await acquireLease({ store })
 * const ids = createGenerator({ lease })
 * ids.next() // a bigint
 * await lease.release()
 */
export async function acquireLease<const F extends readonly Field[] = layouts.Twitter>(
  options: LeaseOptions<F>,
): Promise<Lease<F>> {
  platform.refuseSnapshot?.()
  const resolved = resolveLeaseOptions(options)
  resolved.signal?.throwIfAborted()
  const publication = new Publication(resolved)
  const renewal = new Renewal(resolved, publication)
  await renewal.begin()
  return new Lease(resolved.layout, publication, renewal)
}

/**
 * A node that no other process uses, acquired by {@link acquireLease} and renewed in the background, without
 * keeping the process alive. Pass it to `createGenerator({ lease })`. `await using` releases it.
 * `console.log` and `JSON.stringify` show layout, node, state and the time until which the lease holds.
 *
 * @example
 * const lease = await acquireLease({ store, nodes: [0, 99] })
 * lease.node < 100 // true
 * lease.on('moved', ({ node }) => console.log(`moved to node ${node}`))
 * await lease.release()
 */
export class Lease<F extends readonly Field[] = readonly Field[]> implements AsyncDisposable {
  /** The layout of the ids that are made with the node. */
  readonly layout: Layout<F>
  /** The namespace in which no other process has the node. */
  readonly namespace: string
  /**
   * Aborted when the lease is over: released, or lost while no other node was free. The reason is the error
   * that `next()` throws; its `cause` is the error that ended the lease.
   */
  readonly signal: AbortSignal
  /**
   * For `createGenerator({ lease })` in other threads of this process: pass it as `workerData` or in a
   * message.
   */
  readonly handle: LeaseHandle<F>
  readonly #publication: Publication<F>
  readonly #renewal: Renewal

  /** @internal Use {@link acquireLease}. */
  constructor(layout: Layout<F>, publication: Publication<F>, renewal: Renewal) {
    this.layout = layout
    this.namespace = publication.handle.namespace
    this.signal = renewal.signal
    this.handle = publication.handle
    this.#publication = publication
    this.#renewal = renewal
    showByJson(this, 'Lease')
  }

  /** The node that it has now. A lease that is lost moves to another node, and its generators with it. */
  get node(): number {
    return this.#publication.view.node
  }

  /**
   * The term of a strict lease, which says whether no other lease can have taken the node; `undefined`
   * without the option `strict`, and while the lease has no node.
   */
  get term(): Term | undefined {
    return this.#renewal.term
  }

  /** Tells what the lease has and has done. */
  stats(): LeaseStats {
    return this.#publication.stats()
  }

  /**
   * Calls a function at each event of a type. The last event of a lease is `released`, or `ended` if the
   * lease has ended before it was released. A function that throws or rejects does not disturb the lease; a
   * warning with the code `GRAUPEL_LEASE_LISTENER` reports it. Tools that know no lease subscribe to the
   * channel `graupel:lease`.
   *
   * @param type - The `type` of a {@link LeaseEvent}; not `'acquired'`, because no lease exists before it.
   * @param listener - Called with the event, after the state of the lease has changed.
   * @returns A function that ends the calls.
   * @throws TypeError `ERR_OPTION_INVALID`
   */
  on<T extends Exclude<LeaseEvent['type'], 'acquired'>>(
    type: T,
    listener: (event: LeaseEvent & { type: T }) => unknown,
  ): () => void {
    return this.#publication.listeners.add(type, listener as (event: LeaseEvent) => unknown)
  }

  /**
   * Gives the node back, so that the next process can take it at once. Generators of all threads hand out
   * what they have reserved in the present tick, and then throw `ERR_CLOSED`.
   *
   * Does not reject. If the store fails for up to five `callTimeoutMs`, the event `released` has the error,
   * and the node is free when its window has passed.
   */
  release(): Promise<void> {
    return this.#renewal.release()
  }

  /**
   * Prepares for a copy of the machine: seals the node and gives it back. Call it before a snapshot for each
   * lease of the process, and `resume()` after each restore. From the call on, `next()` throws
   * `ERR_LEASE_EXPIRED` until `resume()` has acquired a node. Generators of a node given by hand throw
   * `ERR_STATE_CLONED`. docs/leases.md says what other leases do.
   *
   * @throws GraupelError `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`, `ERR_STORE_UNSAFE`,
   * `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH` if the store cannot be told. The lease is parked nevertheless,
   * and the node is free when its window has passed. `ERR_STATE_UNREACHABLE` in a worker that
   * started before the main thread imported graupel: it could not stop all threads, so it does nothing.
   */
  async park(): Promise<void> {
    requireReach()
    return this.#renewal.park()
  }

  /**
   * Acquires a node anew, perhaps the same node, after `park()`, or in a copy of the machine that was not
   * parked before. Generators of all threads go on with it. If it throws, the lease stays parked; call it
   * again. A second call waits for the first. Other leases that were not parked acquire another node as well.
   *
   * @throws GraupelError as `acquireLease`; `ERR_CLOSED` if the lease was released; the code of its end, such
   * as `ERR_NODES_EXHAUSTED`, if it has ended; `ERR_LEASE_EXPIRED` if `park()` was called meanwhile;
   * `ERR_STATE_UNREACHABLE` as `park`.
   */
  async resume(): Promise<void> {
    requireReach()
    return this.#renewal.resume()
  }

  /** Calls `release()`, for `await using`. @internal */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  /** @internal */
  toJSON() {
    const { node, ceilingMs } = this.stats()
    const state = describePhase(this.#renewal.phase, platform.wallMs() >= ceilingMs)
    return { layout: this.layout.name, node, state, until: new Date(ceilingMs) }
  }
}
