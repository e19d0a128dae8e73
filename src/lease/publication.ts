import { platform } from '#platform'
import { decideEngine } from '../engine/process-engine.js'
import { sealNode } from '../engine/source/leased-node.js'
import {
  firstView,
  type LeaseHandle,
  type LeaseStats,
  type LeaseView,
  makeHandle,
  SharedLease,
  statsOf,
  wakesOfLeases,
} from '../engine/source/shared-lease.js'
import type { Field } from '../layout/index.js'
import { isHeard, type LeaseEvent, publish } from '../platform/events.js'
import { tokenAt } from '../stores/record.js'
import { Listeners } from './listeners.js'
import type { ResolvedLeaseOptions } from './resolve.js'

/**
 * Publishes the state of a lease: to the threads of the process by shared memory, and to the program by
 * events.
 */
export class Publication<F extends readonly Field[] = readonly Field[]> {
  readonly handle: LeaseHandle<F>
  readonly listeners = new Listeners()
  readonly #options: ResolvedLeaseOptions<F>
  readonly #shared = SharedLease.make()
  readonly #announced = new Set<LeaseEvent['type']>()
  #view: LeaseView = firstView

  constructor(options: ResolvedLeaseOptions<F>) {
    const { store, layout, namespace, windowMs } = options
    const token = tokenAt(platform.monotonicMs())
    const { memory } = this.#shared
    this.#options = options
    this.handle = makeHandle(layout, { namespace, token, store: store.name, windowMs, memory })
    decideEngine()
  }

  /** Lets generators of this thread call back if they find that the machine was copied. */
  onCopied(wake: () => void): void {
    wakesOfLeases.set(this.handle, wake)
  }

  get view(): LeaseView {
    return this.#view
  }

  /** Whether the lease has had a node. */
  get hasNode(): boolean {
    return this.#view.acquisition > 0
  }

  stats(): LeaseStats {
    return statsOf(this.#view, this.#options.layout)
  }

  change(changes: Partial<LeaseView>): void {
    const before = this.#view
    this.#view = { ...before, ...changes }
    this.#shared.write(this.#view)
    const phase = phaseOf(this.#view)
    if (phaseOf(before) !== phase || before.acquisition !== this.#view.acquisition) {
      this.#print('phase', { from: phaseOf(before), to: phase })
    }
    if (this.#view.renewals > before.renewals) {
      const { renewals, roundTripMs } = this.#view
      this.#print('renewal', { renewals, roundTripMs: Math.round(roundTripMs) })
    }
  }

  /** Changes the view after the store has acknowledged a ceiling. */
  acknowledge(changes: Partial<LeaseView>): void {
    this.#announced.clear()
    this.change({ renewedMs: platform.wallMs(), failure: 'none', failureDetail: 0, ...changes })
  }

  /** Lets no thread make another id on the present node. @returns as {@link sealNode} */
  seal(): number {
    return sealNode({ handle: this.handle, layout: this.#options.layout, shared: this.#shared }, this.#view)
  }

  publish(type: LeaseEvent['type'], more: Pick<LeaseEvent, 'untilMs' | 'error' | 'place' | 'holder'> = {}): void {
    const { store, layout, namespace } = this.#options
    const { node, ceilingMs } = this.stats()
    const event: LeaseEvent = {
      type,
      store: store.name,
      layout: layout.name,
      namespace,
      ...(this.hasNode && { node, ceilingMs }),
      ...more,
    }
    publish('lease', event)
    this.listeners.tell(event)
  }

  /** Whether the program hears events of a type. */
  isHeard(type: LeaseEvent['type']): boolean {
    return isHeard('lease') || this.listeners.has(type)
  }

  /** Publishes an event, unless it was published since the store last acknowledged a ceiling. */
  announce(type: LeaseEvent['type'], more?: Pick<LeaseEvent, 'error'>): void {
    if (this.#announced.has(type)) return
    this.#announced.add(type)
    this.publish(type, more)
  }

  #print(kind: 'phase' | 'renewal', facts: object): void {
    const { debug } = platform
    if (debug === undefined) return
    const { store, layout, namespace } = this.#options
    const { node, ceilingMs } = this.stats()
    const held = this.hasNode ? { node, ceiling: new Date(ceilingMs).toISOString() } : {}
    debug(kind, { ...facts, store: store.name, layout: layout.name, namespace, ...held })
  }
}

/** Names the phase of a lease as threads and people see it. */
function phaseOf({ status, failure, isRenewing, acquisition }: LeaseView): string {
  if (status !== 'held') return status
  if (failure !== 'none') return failure
  if (isRenewing) return 'renewing'
  return acquisition === 0 ? 'acquiring' : 'held'
}
