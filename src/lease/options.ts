import { platform } from '#platform'
import { rangeError } from '../core/errors.js'
import { callTimeoutFrom, checkSignal, millisecondsFrom, readOptions, textFrom } from '../core/options.js'
import {
  checkLifetime,
  type Field,
  type Layout,
  layoutOf,
  type NodeFieldOf,
  optionsElsewhere,
} from '../layout/index.js'
import { checkStore } from '../stores/options.js'
import type { Store } from '../stores/store.js'
import { chooseNodes, type NodeSet } from './group.js'
import { maxForgottenMs } from './server-life.js'

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
   * The time of timestamp 0: milliseconds since 1970, or a Date. It has to be in the past. @default the
   * layout's
   */
  epoch?: number | Date
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

const optionNames: readonly string[] = [
  'store',
  'layout',
  'epoch',
  'namespace',
  'node',
  'nodes',
  'windowMs',
  'acquireTimeoutMs',
  'callTimeoutMs',
  'maxClockSkewMs',
  'owner',
  'signal',
] satisfies (keyof LeaseOptions)[]

/** The longest window: an hour. No ceiling is set further ahead of the store's clock. */
export const maxWindowMs = 3_600_000
const maxSkewMs = 3_600_000

/** The options of a lease, checked, with their defaults. */
export interface ResolvedLeaseOptions<F extends readonly Field[] = readonly Field[]> {
  readonly store: Store
  readonly layout: Layout<F>
  readonly namespace: string
  readonly nodes: NodeSet
  readonly windowMs: number
  readonly acquireTimeoutMs: number
  readonly callTimeoutMs: number
  readonly maxClockSkewMs: number
  readonly owner: string
  readonly signal: AbortSignal | undefined
}

/** Checks options. @throws TypeError, RangeError by the codes that {@link acquireLease} lists. */
export function resolveLeaseOptions<F extends readonly Field[]>(options: LeaseOptions<F>): ResolvedLeaseOptions<F> {
  options = readOptions(options, optionNames, '{ store }', optionsElsewhere)
  const { store, signal } = options
  checkStore(store)
  const layout = layoutOf(options)
  checkLifetime(layout, platform.wallMs())
  checkSignal(signal)
  return {
    store,
    layout,
    namespace: textFrom('namespace', options.namespace, 'default'),
    nodes: chooseNodes(layout, options.node, options.nodes),
    windowMs: windowOf(options.windowMs, layout, store),
    acquireTimeoutMs: millisecondsFrom('acquireTimeoutMs', options.acquireTimeoutMs, 30_000, 0),
    callTimeoutMs: callTimeoutFrom(options.callTimeoutMs),
    maxClockSkewMs: millisecondsFrom('maxClockSkewMs', options.maxClockSkewMs, 1000, 0, maxSkewMs),
    owner: textFrom('owner', options.owner, platform.processName()),
    signal,
  }
}

function windowOf(value: unknown, { name, tickMs }: Layout, store: Store): number {
  const windowMs = millisecondsFrom('windowMs', value, 6000, 100, maxWindowMs)
  if (windowMs < 3 * tickMs) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `windowMs is ${windowMs}, and a tick of layout '${name}' has ${tickMs} ms; pass at least three ticks`,
      'windowMs',
    )
  }
  if (!store.durable && windowMs > maxForgottenMs) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `windowMs is ${windowMs}, and the store '${store.name}' may forget what it has acknowledged; pass at most ${maxForgottenMs}, or assumeDurable: true to the store if it never forgets`,
      'windowMs',
    )
  }
  return windowMs
}
