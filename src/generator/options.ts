import type { EngineOption } from '../engine/choose.js'
import type { SequenceStartMode } from '../engine/engine.js'
import type { Field, Layout, NodeOf } from '../layout/index.js'
import type { LeaseHandle } from '../lease/handle.js'
import type { OverflowAction, RollbackAction, RollbackEvent } from '../policy/policy.js'

/**
 * The options of {@link createGenerator}. Every one is checked, and a name that does not exist is refused.
 *
 * @example
 * createGenerator({ node: 7, onRollback: 'wait', maxWaitMs: 10 })
 */
export interface GeneratorOptions<F extends readonly Field[] = readonly Field[]> {
  /**
   * A lease of `graupel/lease`, which brings node, layout, epoch and namespace; in another thread, its handle. The clock is then
   * `'wall'` or `'steady'`.
   */
  lease?: { readonly handle: LeaseHandle<F> } | LeaseHandle<F>
  /**
   * The node of this host: one number over all node fields of the layout, or one for each, as in `{ datacenter: 1, worker: 7 }`.
   * No two hosts may use the same node in the same namespace. Required, because there is no safe default; the variable
   * `GRAUPEL_NODE` of the environment counts.
   */
  node?: NodeOf<F> | undefined
  /** The fields of an id and their widths. @default layouts.twitter */
  layout?: Layout<F>
  /** The time of timestamp 0: milliseconds since 1970, or a Date. It has to be in the past. @default the layout's */
  epoch?: number | Date
  /**
   * Generators in different namespaces may use the same node, where their ids never meet. 1 to 255 characters.
   *
   * @default 'default'
   */
  namespace?: string
  /**
   * The policy where the clock has stepped back behind the last id: `'throw'`, `'wait'`, `'advance'` (count on ahead of the clock)
   * or `'reuse'` (hand out what was never issued of the past). A function is called each time a decision is due, and returns
   * one of these.
   *
   * @default 'advance'
   */
  onRollback?: RollbackAction | ((event: RollbackEvent) => RollbackAction)
  /** The policy where all sequence numbers of a tick are issued. @default 'wait' */
  onOverflow?: OverflowAction
  /**
   * How far `'advance'` may count ahead of the clock: milliseconds, from 0 up.
   *
   * @default 1000, or two ticks of the layout if that is more
   */
  maxAheadMs?: number
  /**
   * How long one wait may block: milliseconds, from 0 up. A call that would have to wait longer throws at once, with
   * `retryAfterMs`. This bounds each wait and not the call: `fill` and `take` wait once for each tick they need.
   *
   * `nextAsync` and `fillAsync` wait until a full tick has passed, however long that is, and after a step back for
   * `maxWaitMs`, or one tick if that is longer. `createGenerator` waits for the locks of a state file for `maxWaitMs` in all.
   *
   * @default 50; for the locks 1000
   */
  maxWaitMs?: number
  /**
   * The first sequence number of a new tick. `'random'` and `'rotate'` spread `id % n` evenly even where few ids are made; they
   * begin in the lower half of the sequence, so at least half of a tick's ids are left.
   *
   * @default 'zero'
   */
  sequenceStart?: SequenceStartMode
  /**
   * `'wall'` is the system's time. `'steady'` reads it once, and is carried by the monotonic clock. A function, for tests and
   * simulations, returns milliseconds since 1970: its generators share no state with those on the real clock, and may make the
   * same ids.
   *
   * @default 'wall'
   */
  clock?: 'wall' | 'steady' | (() => number)
  /**
   * Where the last id is remembered:
   *
   * - `'host'`: in memory that all processes of this user on this host share, until the host restarts. Needs the native engine.
   * - a path, such as `'/var/lib/app/ids.state'`: there, and in a file that survives a restart and a loss of power. Needs the
   *   native engine.
   * - `'process'`: in memory that all threads of the process share. It states that no other process uses the node.
   * - `'thread'`: in memory of the process. It states that no other thread and no other process uses the node.
   *
   * @default 'host'. The js engine then keeps the node for one process of this host, and refuses a second one. 'process' with a
   * `clock` function, and in browsers.
   */
  state?: 'host' | 'process' | 'thread' | (string & {})
  /**
   * How far ids may be ahead of what a state file says: milliseconds, 1 to 86 400 000. The file is written twice in a window
   * while ids are made. After a loss of power, the first id is up to a window later than the last one was.
   *
   * @default 900
   */
  windowMs?: number
  /** `'native'` is never replaced silently. The variable `GRAUPEL_ENGINE` of the environment overrides `'auto'`. @default 'auto' */
  engine?: EngineOption
}

/** @internal */
export const optionNames: readonly string[] = [
  'lease',
  'node',
  'layout',
  'epoch',
  'namespace',
  'onRollback',
  'onOverflow',
  'maxAheadMs',
  'maxWaitMs',
  'sequenceStart',
  'clock',
  'state',
  'windowMs',
  'engine',
] satisfies (keyof GeneratorOptions)[]
