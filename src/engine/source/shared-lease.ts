import { show, typeError } from '../../core/errors.js'
import { defineLayout, type Field, type Layout } from '../../layout/index.js'

// The part of a lease that all threads of a process share.

/** The state of a lease at one moment, as its generators in all threads see it. */
export interface LeaseView {
  readonly status: LeaseStatus
  /** How often the lease has acquired a node. Each acquisition has a state of its own. */
  readonly acquisition: number
  readonly node: number
  /** The generation of the machine (`readGeneration()`) from before the acquisition. */
  readonly generation: number
  /** No id has an earlier tick. */
  readonly floor: number
  /** No id has this tick or a later tick. */
  readonly ceiling: number
  /** The time at which the store last acknowledged a ceiling; milliseconds since 1970. */
  readonly renewedMs: number
  /** The time at which the next renewal begins; milliseconds since 1970. */
  readonly dueMs: number
  /** Whether a renewal is under way. */
  readonly isRenewing: boolean
  /** Milliseconds that the last renewal took. */
  readonly roundTripMs: number
  /** Renewals that the store has acknowledged. */
  readonly renewals: number
  /** Renewals and acquisitions that have failed. */
  readonly failures: number
  /** The reason why the store has not acknowledged a later ceiling. */
  readonly failure: LeaseFailure
  /** A number that the failure comes with, or 0. */
  readonly failureDetail: number
}

const statuses = ['held', 'released', 'ended'] as const
/**
 * `held`: ids are made below the ceiling. `released`: the node was given back. `ended`: the node was lost,
 * and no other was free.
 */
type LeaseStatus = (typeof statuses)[number]

// Threads exchange indexes of this list and of `statuses`, so a change to a list needs a new format of the
// handle.
const failures = [
  'none',
  /**
   * A server that has just started is not trusted. The detail is the time at which it will be; milliseconds
   * since 1970.
   */
  'server has just started',
  /** Other processes hold all nodes. The detail is how many nodes. */
  'nodes are held',
  /** `lease.park()` was called, and `lease.resume()` has not yet acquired a node. */
  'parked',
  'ERR_STORE_UNAVAILABLE',
  'ERR_STORE_INVALID',
  'ERR_STORE_UNSAFE',
  'ERR_CLOCK_SKEW',
  /** The detail is how many nodes are held. */
  'ERR_NODES_EXHAUSTED',
  'ERR_STATE_MISMATCH',
  'ERR_STATE_CORRUPT',
  'ERR_LEASE_EXPIRED',
] as const
type LeaseFailure = (typeof failures)[number]
/** A failure that is the code of an error. */
export type FailureCode = Extract<LeaseFailure, `ERR_${string}`>

/** The code under which other threads learn of an error. */
export function failureOf(error: unknown): FailureCode {
  const { code } = Object(error) as { code?: FailureCode }
  return code !== undefined && failures.includes(code) ? code : 'ERR_LEASE_EXPIRED'
}

/** The view before the first acquisition. */
export const firstView: LeaseView = {
  status: 'held',
  acquisition: 0,
  node: 0,
  generation: 0,
  floor: 0,
  ceiling: 0,
  renewedMs: 0,
  dueMs: 0,
  isRenewing: false,
  roundTripMs: 0,
  renewals: 0,
  failures: 0,
  failure: 'none',
  failureDetail: 0,
}

// The memory consists of 64-bit integers: a sequence number, which is odd while the view is written, the
// fields of the view, and the latest tick of an observed id, which every thread raises.
const fields = /* @__PURE__ */ Object.keys(firstView) as (keyof LeaseView)[]
const observedAt = /* @__PURE__ */ (() => 1 + fields.length)()
const sharedBytes = /* @__PURE__ */ (() => (observedAt + 1) * 8)()
/** Attempts to read a view. If all fail, the thread that writes was ended in the middle of a write. */
const maxReads = 10_000

/**
 * The memory in which the thread of a lease tells all threads what the lease is. Other threads write the tick
 * of observed ids alone.
 */
export class SharedLease {
  readonly memory: SharedArrayBuffer | ArrayBuffer
  readonly #words: BigInt64Array

  constructor(memory: SharedArrayBuffer | ArrayBuffer) {
    this.memory = memory
    this.#words = new BigInt64Array(memory, 0, observedAt + 1)
  }

  /** Makes memory that threads share, if the platform has such memory. */
  static make(): SharedLease {
    return new SharedLease(
      typeof SharedArrayBuffer === 'function' ? new SharedArrayBuffer(sharedBytes) : new ArrayBuffer(sharedBytes),
    )
  }

  /** Reads the view. Returns `undefined` if the thread of the lease was ended while it wrote. */
  read(): LeaseView | undefined {
    for (let reads = 0; reads < maxReads; reads++) {
      const before = Atomics.load(this.#words, 0)
      if (before % 2n !== 0n) continue
      const values = fields.map((field, at) => [field, Number(Atomics.load(this.#words, 1 + at))])
      if (Atomics.load(this.#words, 0) !== before) continue
      const view: Record<keyof LeaseView, number> = Object.fromEntries(values)
      return {
        ...view,
        status: statuses[view.status] ?? 'ended',
        isRenewing: view.isRenewing === 1,
        failure: failures[view.failure] ?? 'ERR_LEASE_EXPIRED',
      }
    }
    return undefined
  }

  /** The latest tick of an id that any thread has observed. */
  get observedTick(): number {
    return Number(Atomics.load(this.#words, observedAt))
  }

  /** Raises `observedTick`. */
  observe(tick: number): void {
    const to = BigInt(tick)
    for (;;) {
      const seen = Atomics.load(this.#words, observedAt)
      if (seen >= to || Atomics.compareExchange(this.#words, observedAt, seen, to) === seen) return
    }
  }

  write(view: LeaseView): void {
    const numbers = { ...view, status: statuses.indexOf(view.status), failure: failures.indexOf(view.failure) }
    const values = fields.map((field) => BigInt(Math.round(Number(numbers[field]))))
    // Also odd if a `timeout` of `node:vm` has ended the last write in the middle.
    const odd = Atomics.load(this.#words, 0) | 1n
    Atomics.store(this.#words, 0, odd)
    for (const [at, value] of values.entries()) Atomics.store(this.#words, 1 + at, value)
    Atomics.store(this.#words, 0, odd + 1n)
  }
}

/**
 * The node, the ceiling and the counts of a lease, as `lease.stats()` and `ids.stats().lease` return them.
 */
export interface LeaseStats {
  /** The node that the lease has, or had last. */
  node: number
  /** Ids stay before this time until the store acknowledges a later time; milliseconds since 1970. */
  ceilingMs: number
  /** The time at which the store last acknowledged a ceiling; milliseconds since 1970. */
  renewedMs: number
  /** Milliseconds that the last renewal took. */
  roundTripMs: number
  /** Renewals that the store has acknowledged. */
  renewals: number
  /** Attempts to renew or to acquire that have failed. */
  failures: number
  /** How often the lease has acquired a node. The acquisition of the present node counts. */
  acquisitions: number
}

/** Picks from a view what users see of it. */
export function statsOf(view: LeaseView, { epochMs, tickMs }: Pick<Layout, 'epochMs' | 'tickMs'>): LeaseStats {
  const { node, ceiling, renewedMs, roundTripMs, renewals, failures, acquisition } = view
  const ceilingMs = epochMs + ceiling * tickMs
  return { node, ceilingMs, renewedMs, roundTripMs, renewals, failures, acquisitions: acquisition }
}

/**
 * The part of a lease that another thread of the process needs: pass it as `workerData` or in a message, and
 * there to `createGenerator({ lease })`. It cannot be sent to another process. Its contents are not a part of
 * the API.
 */
export interface LeaseHandle<F extends readonly Field[] = readonly Field[]> {
  /** @internal */
  readonly format: typeof handleFormat
  /** @internal The specification of the layout. */
  readonly layout: { name: string; epochMs: number; tickMs: number; fields: F; unsigned: boolean; decodeOnly: boolean }
  /** @internal */
  readonly namespace: string
  /** @internal A name that no other lease has. */
  readonly token: string
  /** @internal */
  readonly store: string
  /** @internal */
  readonly windowMs: number
  /** @internal */
  readonly memory: SharedArrayBuffer | ArrayBuffer
}

const handleFormat = 'graupel lease 5'

/** Makes a handle, which can be cloned. */
export function makeHandle<F extends readonly Field[]>(
  layout: Layout<F>,
  lease: Omit<LeaseHandle<F>, 'format' | 'layout'>,
): LeaseHandle<F> {
  const handle = Object.freeze({ format: handleFormat, layout: Object.freeze({ ...layout }), ...lease } as const)
  layouts.set(handle, layout)
  return handle
}

/**
 * The functions that let a lease of this thread look at once whether the machine was copied, by the handle.
 */
export const wakesOfLeases = /* @__PURE__ */ new WeakMap<object, () => void>()

/** The layouts of the handles that were made in this thread. */
const layouts = new WeakMap<object, Layout>()

/** The option `lease`, checked. */
export interface ResolvedLease<F extends readonly Field[] = readonly Field[]> {
  readonly handle: LeaseHandle<F>
  readonly layout: Layout<F>
  readonly shared: SharedLease
}

/**
 * Reads the option `lease`: a lease, or its handle.
 *
 * @throws TypeError `ERR_OPTION_INVALID`
 */
export function readLeaseOption<F extends readonly Field[]>(lease: unknown): ResolvedLease<F> {
  const given = Object(lease) as { handle?: unknown }
  const isHandle = Object.hasOwn(given, 'format')
  const handle = Object(isHandle ? given : given.handle) as LeaseHandle<F>
  if (handle.format !== handleFormat) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `lease is ${show(lease)}; pass what acquireLease() of graupel/lease resolves to, or its handle in another thread`,
    )
  }
  const { memory } = handle
  const kind = Object.prototype.toString.call(memory).slice(8, -1)
  const isMemory = (kind === 'SharedArrayBuffer' || kind === 'ArrayBuffer') && memory.byteLength >= sharedBytes
  // An ArrayBuffer is a copy, except on platforms without shared memory.
  if (!isMemory || (kind === 'ArrayBuffer' && isHandle && typeof SharedArrayBuffer === 'function')) {
    throw typeError(
      'ERR_OPTION_INVALID',
      'the handle of the lease has lost its memory, in another process or in JSON; pass the handle to threads of the same process, and acquire a lease in each process',
    )
  }
  const layout = (layouts.get(handle) ?? defineLayout({ ...handle.layout })) as Layout<F>
  return { handle, layout, shared: new SharedLease(memory) }
}
