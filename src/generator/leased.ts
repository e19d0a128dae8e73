import { platform } from '#platform'
import { type ErrorCode, GraupelError } from '../core/errors.js'
import { type Core, type CoreSpec, Status } from '../engine/engine.js'
import { openCore } from '../engine/open.js'
import type { Field } from '../layout/index.js'
import type { LeaseSettings } from '../lease/handle.js'
import type { LeaseView } from '../lease/shared.js'
import type { CeilingSource } from '../policy/ceiling-wait.js'
import type { Settings } from './settings.js'
import { coreSpec } from './spec.js'

/**
 * The spec of a core that counts on a node of a lease. Each node that was acquired has a state of its own, which no other
 * generator of the process shares: the ceiling of a state never falls, and that of a node that was given back would have to.
 */
export function leasedSpec(
  settings: Settings<readonly Field[]>,
  { handle }: LeaseSettings<readonly Field[]>,
  { node, generation }: Pick<LeaseView, 'node' | 'generation'>,
  seed: number,
  nowMs: number,
): CoreSpec {
  const namespace = `${handle.namespace} lease ${handle.token} ${generation}`
  return coreSpec({ ...settings, node, namespace }, seed, nowMs)
}

/**
 * Lets a generator follow its lease, in whichever thread: where it meets the ceiling, it looks up whether that has risen, or
 * whether the lease has another node by now.
 */
export class LeasedCore implements CeilingSource {
  readonly isAwaited = false
  readonly core: Core
  readonly #settings: Settings<readonly Field[]>
  readonly #lease: LeaseSettings<readonly Field[]>
  readonly #seed: number
  #generation: number
  #node: number

  /** @throws GraupelError `ERR_LEASE_EXPIRED`; as opening a core does. */
  constructor(
    settings: Settings<readonly Field[]>,
    lease: LeaseSettings<readonly Field[]>,
    seed: number,
    nowMs: number,
  ) {
    this.#settings = settings
    this.#lease = lease
    this.#seed = seed
    const view = this.#view()
    this.#generation = view.generation
    this.#node = view.node
    this.core = openCore(settings.engine, leasedSpec(settings, lease, view, seed, nowMs))
    this.#raise(view)
  }

  /** The node whose ids it makes. */
  get node(): number {
    return this.#node
  }

  view(): LeaseView | undefined {
    return this.#lease.shared.read()
  }

  /**
   * Takes over what the lease has got since: a higher ceiling, or another node.
   *
   * @returns Whether there is something to try again for.
   * @throws GraupelError `ERR_LEASE_EXPIRED` where the lease has ended; as opening a core does.
   */
  rise(): boolean {
    const view = this.#view()
    if (view.generation !== this.#generation) {
      this.core.moveTo(leasedSpec(this.#settings, this.#lease, view, this.#seed, platform.wallMs()))
      this.#generation = view.generation
      this.#node = view.node
    }
    this.#raise(view)
    return this.core.observe().status !== Status.ceiling
  }

  late(): GraupelError {
    const view = this.view()
    const { layout } = this.#settings
    const ceilingMs = view === undefined ? Number.NaN : layout.epochMs + view.ceiling * layout.tickMs
    return new GraupelError(
      'ERR_LEASE_EXPIRED',
      `the lease of node ${this.#node} allows ids up to ${timeText(ceilingMs)}, and the clock shows ${timeText(platform.wallMs())}; ${this.#reason(view)}`,
    )
  }

  #view(): LeaseView {
    const view = this.view()
    if (view === undefined) throw this.late()
    if (view.status === 'held') return view
    throw endedError(view)
  }

  /** In this order: a slot below the floor may be another holder's. */
  #raise({ floor, ceiling }: LeaseView): void {
    const { sequence } = this.#settings.layout
    const firstOf = (tick: number) => BigInt(tick) << BigInt(sequence.bits)
    this.core.raiseFloor(firstOf(floor), Math.max(0, floor - 1))
    this.core.raiseCeiling(firstOf(ceiling))
  }

  /** Why the ceiling has not risen, and what to do. */
  #reason(view: LeaseView | undefined): string {
    const { store, windowMs } = this.#lease.handle
    if (view === undefined) return 'the thread that renews it has ended: acquire a lease in a thread that lives'
    const { renewedMs, dueMs, isRenewing, failure } = view
    const nowMs = platform.wallMs()
    const lateMs = Math.round(nowMs - dueMs)
    const since = `the store '${store}' has last renewed it at ${timeText(renewedMs)}`
    if (failure !== '') return `${since}, and answers since: ${failure}`
    // A tick and a round trip less than the window at the most.
    if (nowMs - renewedMs < windowMs / 2) {
      return `${since}: the clock of this host is ahead of the store's, ids were made ahead of the clock, or the store took long to answer; compare the clocks`
    }
    if (isRenewing) return `${since}, and has not answered for ${lateMs} ms; look after it`
    return `${since}, and the next renewal is ${lateMs} ms late: the event loop of its thread is blocked, the process was stopped, or its clock stepped forward; let the event loop have turns, or choose a larger windowMs`
  }
}

/** The error of every call once a lease was released, or has ended with `CODE: message`. */
export function endedError({ status, node, failure }: Pick<LeaseView, 'status' | 'node' | 'failure'>): GraupelError {
  const [, code, message] = /^(ERR_\w+): (.*)$/s.exec(failure) ?? []
  if (status === 'ended' && message !== undefined) return new GraupelError(code as ErrorCode, message)
  return new GraupelError('ERR_CLOSED', `the lease of node ${node} was released; acquire another one`)
}

function timeText(ms: number): string {
  return Number.isNaN(ms) ? 'an unknown time' : new Date(ms).toISOString()
}
