import type { Instant } from '../core/moment.js'
import type { Row, Rows } from '../core/options.js'
import { choice, milliseconds, text } from '../core/readers.js'
import { type EngineOption, engineOptions } from '../engine/choose.js'
import type { LeaseHandle } from '../engine/source/shared-lease.js'
import type { Field, Layout, NodeOf } from '../layout/index.js'
import {
  type OverflowAction,
  overflowActions,
  type Policy,
  type RollbackAction,
  type RollbackEvent,
  rollbackActions,
} from '../policy/policy.js'
import { type SequenceStartMode, startModes } from '../state/engine.js'
import { clockOfUser, clocks } from './clock.js'
import { stateOfUser } from './state-option.js'

/**
 * The options of {@link createGenerator}: {@link GeneratorSettings}, without those that the lease decides if
 * there is a lease.
 *
 * @example
 * createGenerator({ node: 7, layout: layouts.discord })
 */
export type GeneratorOptions<F extends readonly Field[] = readonly Field[]> = GeneratorSettings<F> &
  (
    | { lease?: undefined }
    | {
        node?: undefined
        layout?: undefined
        epoch?: undefined
        namespace?: undefined
        state?: undefined
        openTimeoutMs?: undefined
        reserveMs?: undefined
      }
  )

/**
 * All options of {@link createGenerator}. Every option is checked, and a name that does not exist is refused.
 * Options are the own enumerable properties of the object: an inherited option is refused, and
 * `Object.prototype` is not read.
 *
 * @example
 * createGenerator({ node: 7, onRollback: 'wait', maxWaitMs: 10 })
 */
export interface GeneratorSettings<F extends readonly Field[] = readonly Field[]> {
  /**
   * The lease that `acquireLease` of `graupel/lease` resolves to; in another thread, its handle. The lease
   * sets node, layout, epoch, namespace and state. The clock is then `'wall'` or `'steady'`.
   */
  lease?: { readonly handle: LeaseHandle<F> } | LeaseHandle<F>
  /**
   * The node of this host: one number over all node fields of the layout, or a number for each field, as in
   * `{ datacenter: 1, worker: 7 }`. No two hosts, and no two containers of a host, may use the same node in
   * the same namespace: docs/nodes.md. Required without a lease, because there is no safe default.
   *
   * @default the environment variable `GRAUPEL_NODE`
   */
  node?: NodeOf<F> | undefined
  /** The fields of an id and their widths. @default layouts.twitter */
  layout?: Layout<F>
  /**
   * The time of timestamp 0: milliseconds since 1970, a Date or a `Temporal.Instant`; in the past. @default
   * the epoch of the layout
   */
  epoch?: Date | Instant | number
  /**
   * A name for ids that have to be distinct. Ids of different namespaces may be equal, so generators in
   * different namespaces may use the same node. 1 to 255 characters.
   *
   * @default 'default'
   */
  namespace?: string
  /**
   * The action when the clock was set back behind the last id: `'throw'` an error; `'wait'` until the clock
   * has passed the last id; `'advance'` from the last id, ahead of the clock; or `'reuse'` sequence numbers
   * of the past that no id has. A function is called for each decision, and returns an action.
   *
   * @default 'advance'
   */
  onRollback?: RollbackAction | ((event: RollbackEvent) => RollbackAction)
  /**
   * The action when the ids of a tick are used up: `'wait'` for the next tick, `'advance'` to it, or
   * `'throw'`. @default 'wait'
   */
  onOverflow?: OverflowAction
  /**
   * The time by which `'advance'` may count ahead of the clock: milliseconds, from 0 up.
   *
   * @default 1000, or two ticks of the layout if that is more
   */
  maxAheadMs?: number
  /**
   * Time limit of one wait that blocks: milliseconds, from 0 up. A call that would have to wait longer throws
   * at once, with `retryAfterMs`. The limit is for each wait and not for the call: `fill` and `take` wait
   * once for each tick they need.
   *
   * `nextAsync` and `fillAsync` wait until a full tick has passed, however long it is. After a step back they
   * wait for `maxWaitMs`, or for one tick if a tick is longer.
   *
   * @default 50
   */
  maxWaitMs?: number
  /**
   * Time limit of `createGenerator`: milliseconds, 0 to 86 400 000, for the locks of a state file, and again
   * for the first tick of a new page or claim.
   *
   * @default 1000
   */
  openTimeoutMs?: number
  /**
   * The first sequence number of a new tick. `'random'` and `'rotate'` spread `id % n` evenly even if few ids
   * are made. They begin in the lower half of the sequence, so at least half of a tick's ids are left.
   *
   * @default 'zero'
   */
  sequenceStart?: SequenceStartMode
  /**
   * `'wall'` is the system's time. `'steady'` reads it once and then follows the monotonic clock, so it
   * does not see that the clock is set back. It follows a step forward at once and returns slowly: with a
   * lease, a step of an hour may cost 16 hours without ids (docs/leases.md).
   *
   * A function, for tests and simulations, returns milliseconds since 1970. Generators with a function share
   * no state with generators on the real clock, and may make the same ids.
   *
   * @default 'wall'
   */
  clock?: 'wall' | 'steady' | (() => number)
  /**
   * The memory of the last id:
   *
   * - `'host'`: in memory that all processes of this user on this host share, until the host restarts. Needs
   *   the native engine.
   * - a path, such as `'/var/lib/app/ids.state'`: in that memory and in a file, which survives a restart and
   *   a loss of power. Needs the native engine.
   * - `'process'`: in memory that all threads of the process share. You promise that no other process uses
   *   the node.
   * - `'thread'`: in memory that other threads may not reach. You promise that no other thread and no other
   *   process uses the node.
   *
   * @default 'host'. The js engine then keeps the node for one process of this host, and refuses a second
   * process. 'process' with a `clock` function, and in browsers.
   */
  state?: 'host' | 'process' | 'thread' | (string & {})
  /**
   * The time that a state file reserves ahead of the clock: milliseconds, 1 to 86 400 000. The file is
   * written twice in that time while ids are made. After a loss of power, the first id is up to `reserveMs`
   * later than the last id.
   *
   * @default 900
   */
  reserveMs?: number
  /**
   * If the binary does not load, `'native'` throws, and `'auto'` takes the js engine. The environment
   * variable `GRAUPEL_ENGINE` overrides `'auto'`.
   *
   * @default 'auto'
   */
  engine?: EngineOption
}

const startModeNames = /* @__PURE__ */ Object.keys(startModes) as SequenceStartMode[]

/** @internal */
export const generatorRows = {
  lease: {},
  node: {},
  layout: {},
  epoch: {},
  namespace: { read: text, byDefault: 'default' },
  onRollback: { read: actionOrFunction, choices: rollbackActions, byDefault: 'advance' },
  onOverflow: { read: choice, choices: overflowActions, byDefault: 'wait' },
  maxAheadMs: { read: milliseconds },
  maxWaitMs: { read: milliseconds, byDefault: 50 },
  openTimeoutMs: { read: milliseconds, most: 86_400_000, byDefault: 1000 },
  sequenceStart: { read: choice, choices: startModeNames, byDefault: 'zero' },
  clock: { read: clockOfUser, choices: clocks, byDefault: 'wall' },
  state: { read: stateOfUser },
  reserveMs: { read: milliseconds, least: 1, most: 86_400_000, byDefault: 900 },
  engine: { choices: engineOptions, byDefault: 'auto' },
} satisfies Rows<GeneratorSettings>

function actionOrFunction(name: string, value: unknown, row: Row) {
  return (typeof value === 'function' ? value : choice(name, value, row)) as Policy['onRollback']
}
