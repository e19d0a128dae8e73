import type { EngineOption } from '../engine/choose.js'
import type { SequenceStartMode } from '../engine/engine.js'
import type { LeaseHandle } from '../engine/source/handle.js'
import type { Field, Layout, NodeOf } from '../layout/index.js'
import type { OverflowAction, RollbackAction, RollbackEvent } from '../policy/policy.js'

/**
 * The options of {@link createGenerator}. Every one is checked, and a name that does not exist is refused. They are the own
 * enumerable properties of the object: an option that it inherits is refused, and `Object.prototype` is not read.
 *
 * @example
 * createGenerator({ node: 7, onRollback: 'wait', maxWaitMs: 10 })
 */
export interface GeneratorOptions<F extends readonly Field[] = readonly Field[]> {
  /**
   * What `acquireLease` of `graupel/lease` resolves to; in another thread, its handle. It sets node, layout, epoch, namespace and
   * state. The clock is then `'wall'` or `'steady'`.
   */
  lease?: { readonly handle: LeaseHandle<F> } | LeaseHandle<F>
  /**
   * The node of this host: one number over all node fields of the layout, or one for each, as in `{ datacenter: 1, worker: 7 }`.
   * No two hosts may use the same node in the same namespace. Required without a lease, because there is no safe default.
   *
   * @default the variable `GRAUPEL_NODE` of the environment
   */
  node?: NodeOf<F> | undefined
  /** The fields of an id and their widths. @default layouts.twitter */
  layout?: Layout<F>
  /** The moment of timestamp 0: milliseconds since 1970, or a Date. It has to be in the past. @default the layout's */
  epoch?: number | Date
  /**
   * Services whose ids never meet may use the same nodes in different namespaces. 1 to 255 characters.
   *
   * @default 'default'
   */
  namespace?: string
  /**
   * What to do when the clock was set back behind the last id: `'throw'`; `'wait'` until the clock has passed it; `'advance'`: count
   * on from it, ahead of the clock; or `'reuse'`: use sequence numbers of the past that no id has. A function is called for each
   * decision, and returns one of these.
   *
   * @default 'advance'
   */
  onRollback?: RollbackAction | ((event: RollbackEvent) => RollbackAction)
  /** What to do when the ids of a tick are used up: `'wait'` for the next one, `'advance'` to it, or `'throw'`. @default 'wait' */
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
   * `maxWaitMs`, or one tick if that is longer. `createGenerator` waits for the locks of a state file for `maxWaitMs` in all,
   * and as long for the first tick of a new page or claim.
   *
   * @default 50; for `createGenerator` 1000
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
   * `'wall'` is the system's time. `'steady'` reads it once and then follows the monotonic clock, so it does not see the clock set
   * back. A function, for tests and simulations, returns milliseconds since 1970. Generators with a function share no state with
   * those on the real clock, and may make the same ids.
   *
   * @default 'wall'
   */
  clock?: 'wall' | 'steady' | (() => number)
  /**
   * Where the last id is kept:
   *
   * - `'host'`: in memory that all processes of this user on this host share, until the host restarts. Needs the native engine.
   * - a path, such as `'/var/lib/app/ids.state'`: in that memory and in a file, which survives a restart and a loss of power. Needs
   *   the native engine.
   * - `'process'`: in memory that all threads of the process share. You promise that no other process uses the node.
   * - `'thread'`: in memory of the process. You promise that no other thread and no other process uses the node.
   *
   * @default 'host'. The js engine then keeps the node for one process of this host, and refuses a second one. 'process' with a
   * `clock` function, and in browsers.
   */
  state?: 'host' | 'process' | 'thread' | (string & {})
  /**
   * How far ahead of the clock a state file reserves time: milliseconds, 1 to 86 400 000. The file is written twice in a window
   * while ids are made. After a loss of power, the first id is up to a window later than the last one was.
   *
   * @default 900
   */
  windowMs?: number
  /**
   * `'native'` throws where the binary does not load, `'auto'` takes the js engine then. The variable `GRAUPEL_ENGINE` of the
   * environment overrides `'auto'`.
   *
   * @default 'auto'
   */
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
