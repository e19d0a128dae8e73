import type { Instant } from '../core/moment.js'
import type { Rows } from '../core/options.js'
import { flag, milliseconds, text } from '../core/readers.js'
import { abortSignal } from '../core/signal.js'
import type { Field, Layout, NodeFieldOf } from '../layout/index.js'
import { callTimeoutRow, storeOfUser } from '../stores/options.js'
import type { Store } from '../stores/store.js'

/**
 * The options of {@link acquireLease}. Every option is checked, and a name that does not exist is refused.
 *
 * @example
 * const lease = await acquireLease({ store, node: { datacenter: 3 }, windowMs: 3000 })
 * await lease.release()
 */
export interface LeaseOptions<F extends readonly Field[] = readonly Field[]> {
  /**
   * The store that has the leases: the result of a function of `graupel/stores/…`, or a store of your own.
   */
  store: Store
  /** The fields of an id and their widths. @default layouts.twitter */
  layout?: Layout<F>
  /**
   * The time of timestamp 0: milliseconds since 1970, a Date or a `Temporal.Instant`; in the past. @default
   * the layout's
   */
  epoch?: Date | Instant | number
  /**
   * A name for ids that have to be distinct. Leases in different namespaces may have the same node. 1 to 255
   * characters. @default 'default'
   */
  namespace?: string
  /** Node fields that are fixed, such as `{ datacenter: 3 }`, or one node as a number. @default any node */
  node?: number | { readonly [K in NodeFieldOf<F>]?: number }
  /** The first and the last node that may be leased. Other nodes may be given by hand. @default all nodes */
  nodes?: readonly [first: number, last: number]
  /**
   * The time by which ids may be ahead of the store's clock at its last acknowledgement: milliseconds, 100 to
   * 3 600 000, at least three ticks of the layout; at most 10 000 on a store that is not durable.
   *
   * The lease is renewed after a third of the window. A process that ends without `release()` keeps its node
   * for a window and `maxClockSkewMs` at most.
   *
   * @default 6000
   */
  windowMs?: number
  /** Time limit of the wait for a free node: milliseconds, from 0 up. @default 30 000 */
  acquireTimeoutMs?: number
  /**
   * Time limit of one call of the store: milliseconds, 1 to 600 000. A call may have to open a connection,
   * which can take half a second on a busy machine.
   *
   * @default 2000
   */
  callTimeoutMs?: number
  /**
   * The largest difference between the clock of this host and the store's: milliseconds, 0 to 3
   * 600 000. @default 1000
   */
  maxClockSkewMs?: number
  /**
   * Whether the lease has a {@link Term}, so that a program can answer in strict order. All leases that may
   * have the node have to be strict. Needs a durable store, and a layout that begins with the timestamp and
   * has no tag above the sequence (docs/order.md). @default false
   */
  strict?: boolean
  /**
   * The name of the holder, for people. A process prefers a node that the same owner has had. 1 to 255
   * characters.
   *
   * @default host name and process id
   */
  owner?: string
  /**
   * Cancels the acquisition, which then rejects with the signal's reason. It does not end a lease that was
   * acquired.
   */
  signal?: AbortSignal
}

/** The longest window: an hour. No ceiling is set further ahead of the store's clock. */
export const maxWindowMs = 3_600_000

export const leaseRows = {
  store: { read: storeOfUser, isRequired: true },
  layout: {},
  epoch: {},
  namespace: { read: text, byDefault: 'default' },
  node: {},
  nodes: {},
  windowMs: { read: milliseconds, least: 100, most: maxWindowMs, byDefault: 6000 },
  acquireTimeoutMs: { read: milliseconds, byDefault: 30_000 },
  callTimeoutMs: callTimeoutRow,
  maxClockSkewMs: { read: milliseconds, most: 3_600_000, byDefault: 1000 },
  strict: { read: flag, byDefault: false },
  owner: { read: text },
  signal: { read: abortSignal },
} satisfies Rows<LeaseOptions>
