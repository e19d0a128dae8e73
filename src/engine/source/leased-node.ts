import { platform } from '#platform'
import { errorCodes, GraupelError, showTime } from '../../core/errors.js'
import { type Core, type CoreSpec, Status } from '../../state/engine.js'
import type { EngineKind } from '../choose.js'
import { openCore, openUnasked } from '../open.js'
import { processEngines } from '../process-engine.js'
import { forgetKey } from '../states.js'
import { coreSpec, type StateOptions } from './core-spec.js'
import type { NodeSource } from './node-source.js'
import {
  type FailureCode,
  firstView,
  type LeaseHandle,
  type LeaseStats,
  type LeaseView,
  type ResolvedLease,
  statsOf,
  wakesOfLeases,
} from './shared-lease.js'
import type { Views } from './views.js'

/**
 * Lets a generator follow its lease, in any thread. A call that meets the ceiling looks up whether the
 * ceiling has risen, and whether the lease has moved to another node.
 */
export class LeasedNode implements NodeSource {
  readonly kind = 'leased'
  readonly core: Core
  views: Views | undefined
  readonly #lease: ResolvedLease
  readonly #options: StateOptions
  #view = firstView
  #key: string
  /** The latest tick of an id that this generator has observed. */
  #observedTick = 0

  /** @throws GraupelError as {@link endedError} and {@link lateError} make it; as {@link openCore} */
  constructor(lease: ResolvedLease, engine: EngineKind, options: StateOptions, nowMs: number) {
    this.#lease = lease
    this.#options = options
    const view = this.#heldView()
    const spec = this.#spec(view, nowMs)
    this.#view = view
    this.#key = spec.key
    this.core = openCore(engine, spec)
    this.#begin(view)
  }

  get node(): number {
    return this.#view.node
  }

  leaseStats(): LeaseStats | undefined {
    const view = this.#lease.shared.read()
    return view && statsOf(view, this.#lease.layout)
  }

  rise(): boolean {
    const view = this.#lease.shared.read()
    // The lease's thread is writing: `late()` says so if the caller has waited for long enough.
    if (view === undefined) return false
    if (view.status !== 'held') throw endedError(view)
    if (!haveOneState(view, this.#view)) {
      const spec = this.#spec(view, platform.wallMs())
      this.core.moveTo(spec)
      this.views?.follow()
      this.#begin(view)
      // The lease's thread has sealed the former state.
      forgetKey(this.#key)
      // Last: a call that a `timeout` of `node:vm` has ended before is done again.
      this.#key = spec.key
      this.#view = view
    }
    this.#raise(view)
    const { status } = this.core.observe()
    if (status === Status.cloned) wakesOfLeases.get(this.#lease.handle)?.()
    return status !== Status.ceiling && status !== Status.cloned
  }

  observed(tick: number): boolean {
    if (tick <= this.#observedTick) return false
    const { shared } = this.#lease
    shared.observe(tick)
    // Read afterwards: a thread that moves later reads the tick. If another generator of this thread has
    // moved before, its next ids are those of the new state.
    const view = shared.read()
    const hasMoved = view?.status === 'held' && !haveOneState(view, this.#view)
    if (hasMoved) this.rise()
    this.#observedTick = tick
    return hasMoved
  }

  late(): GraupelError {
    const view = this.#lease.shared.read()
    const isCloned = this.core.observe().status === Status.cloned
    return isCloned && view?.failure === 'none' ? copiedError(this.node) : lateError(this.#lease, this.node, view)
  }

  /** Describes the state of the leased node. If the lease's thread has sealed it meanwhile, no id is made. */
  #spec(view: LeaseView, nowMs: number): CoreSpec {
    return leasedSpec(this.#lease.handle, this.#options, view, nowMs)
  }

  #heldView(): LeaseView {
    const view = this.#lease.shared.read()
    // Not `late()`, because the constructor has no core yet.
    if (view === undefined) throw lateError(this.#lease, this.node, view)
    if (view.status === 'held') return view
    throw endedError(view)
  }

  /**
   * Begins a new state above the observed ids. Their tick is over, because another node has other ids in it.
   */
  #begin(view: LeaseView): void {
    const { observedTick } = this.#lease.shared
    const { sequence, maxTick } = this.#options.layout
    const tick = Math.min(observedTick, maxTick) + 1
    if (observedTick > 0) this.core.raise({ floor: firstSlot(tick, sequence.bits), observedTick: tick })
    this.#raise(view)
  }

  /** Raises the floor before the ceiling: a slot below the floor may belong to another holder. */
  #raise({ floor, ceiling }: LeaseView): void {
    const { bits } = this.#options.layout.sequence
    const highTick = Math.max(0, floor - 1)
    this.core.raise({ floor: firstSlot(floor, bits), highTick, ceiling: firstSlot(ceiling, bits) })
  }
}

/**
 * Seals the state of a leased node: no thread of this process reserves another slot of it.
 *
 * @returns The tick after all ticks that were used. If this thread cannot open the state, that is the
 * ceiling, because other threads may use the whole window.
 */
export function sealNode({ handle, layout }: ResolvedLease, view: LeaseView): number {
  const { bits } = layout.sequence
  const spec = leasedSpec(handle, { ...sealOptions, layout }, view, platform.wallMs())
  try {
    const ends = processEngines().map((engine) => {
      const core = openUnasked(engine, spec)
      const word = core.raise({ floor: firstSlot(view.ceiling, bits) })
      core.close()
      // The word is below the floor if no id was made: nothing has moved it, or only the opening of a
      // history.
      return Math.max(view.floor, Number((word - 1n) >> BigInt(bits)) + 1)
    })
    forgetKey(spec.key)
    return Math.max(...ends)
  } catch (error) {
    if (error instanceof GraupelError) return view.ceiling
    throw error
  }
}

/** A core that only seals makes no ids, so these options decide nothing. */
const sealOptions: Omit<StateOptions, 'layout'> = {
  namespace: '',
  clock: 'wall',
  state: { kind: 'lease' },
  openTimeoutMs: 1000,
  sequenceStart: 'zero',
  seed: 0,
  history: false,
}

/**
 * Describes the state of a leased node. Each acquisition has its own state, because the ceiling of a state
 * never falls, and a node may be acquired again with a lower ceiling. An acquisition has another state after
 * a hook of another lease, because a state keeps the generation of the machine.
 */
function leasedSpec(
  handle: LeaseHandle,
  options: StateOptions,
  { node, acquisition, generation }: Pick<LeaseView, 'node' | 'acquisition' | 'generation'>,
  nowMs: number,
): CoreSpec {
  const namespace = `${handle.namespace} lease ${handle.token} ${acquisition} ${generation}`
  return coreSpec({ ...options, namespace }, node, nowMs, generation)
}

/** Whether two views of a lease have the same state. */
function haveOneState(one: LeaseView, other: LeaseView): boolean {
  return one.acquisition === other.acquisition && one.generation === other.generation
}

function firstSlot(tick: number, sequenceBits: number): bigint {
  return BigInt(tick) << BigInt(sequenceBits)
}

/** Makes the error of every call after a lease was released, or has ended. */
export function endedError({ status, node, failure, failureDetail }: LeaseView, cause?: unknown): GraupelError {
  if (status === 'released') {
    return new GraupelError('ERR_CLOSED', `the lease of node ${node} was released; acquire another lease`)
  }
  const code = failure.startsWith('ERR_') ? (failure as FailureCode) : 'ERR_LEASE_EXPIRED'
  const text =
    code === 'ERR_NODES_EXHAUSTED'
      ? `the lease lost node ${node}, and all ${failureDetail} nodes that it may have are held by others; stop processes, or choose a layout with more nodes`
      : `the lease of node ${node} has ended because ${errorCodes[code]}; the event 'ended' of graupel:lease has the error of the store`
  return new GraupelError(code, text, { cause })
}

/** Makes the error of a call in a copy of the machine. */
function copiedError(node: number): GraupelError {
  return new GraupelError(
    'ERR_LEASE_EXPIRED',
    `the lease of node ${node} belongs to another machine, because this machine was restored from a snapshot; a node is being acquired: call again, or use nextAsync()`,
    { cause: new Error('restored from a snapshot') },
  )
}

/** Makes the error of a call that meets the ceiling. */
function lateError(lease: ResolvedLease, node: number, view: LeaseView | undefined): GraupelError {
  return new GraupelError('ERR_LEASE_EXPIRED', lateText(lease, node, view))
}

/** Says why the ceiling has not risen. */
function lateText({ handle, layout }: ResolvedLease, node: number, view: LeaseView | undefined): string {
  if (view === undefined) {
    return 'the thread of this lease has ended, or is suspended in the middle of a write; try again, and acquire leases in a thread that stays'
  }
  const { store, windowMs } = handle
  const { renewedMs, dueMs, isRenewing, failure, failureDetail } = view
  const nowMs = platform.wallMs()
  const end = showTime(layout.epochMs + view.ceiling * layout.tickMs)
  const lateMs = Math.round(nowMs - dueMs)
  switch (failure) {
    case 'none':
      break
    case 'parked':
      return `the lease of node ${node} is parked, so that the machine can be copied; call lease.resume() first`
    case 'server has just started':
      return `the lease of node ${node} ended at ${end}; the server of the store '${store}' has just started, and gives no node before ${showTime(failureDetail)}; wait until then`
    case 'nodes are held':
      return `the lease of node ${node} ended at ${end}, and all ${failureDetail} nodes that it may have are held by others; stop processes, or choose a layout with more nodes`
    default:
      return `the lease of node ${node} ended at ${end}; the store '${store}' has not renewed it since ${showTime(renewedMs)} (${failure}); check the store`
  }
  // The ceiling is a window after the last renewal, except for a tick and a round trip.
  if (nowMs - renewedMs < windowMs / 2) {
    return `the lease of node ${node} allows ids up to ${end}, and was renewed at ${showTime(renewedMs)}: the clock of this host or its ids are ahead of the store '${store}'; compare the clocks`
  }
  return isRenewing
    ? `the lease of node ${node} ended at ${end}; the store '${store}' has not answered for ${lateMs} ms; check the store`
    : `the lease of node ${node} ended at ${end}, and its renewal is ${lateMs} ms late: the event loop of its thread is blocked, or the process was stopped; do not block the event loop`
}
