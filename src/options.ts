import { platform } from '#platform'
import {
  checkEngineOption,
  type EngineKind,
  type EngineOption,
  isJsForced,
  requireNative,
  resolveEngine,
} from './engine/choose.js'

import { type CoreSpec, type Place, type SequenceStartMode, startModes } from './engine/engine.js'
import { GraupelError, rangeError, show, typeError } from './errors.js'
import {
  checkEpochMs,
  combineNode,
  defineLayout,
  type Field,
  genuineLayout,
  type Layout,
  layouts,
  type NodeOf,
  placeNode,
} from './layout/index.js'
import {
  type OverflowAction,
  overflowActions,
  type Policy,
  type RollbackAction,
  type RollbackEvent,
  rollbackActions,
} from './policy/policy.js'

/** What {@link createGenerator} takes. Everything is checked; a name that does not exist is refused. */
export interface GeneratorOptions<F extends readonly Field[] = readonly Field[]> {
  /**
   * Which node this is: one number over all node fields of the layout, or `{ datacenter: 1, worker: 7 }`. No two hosts may
   * use the same one in the same namespace. There is no safe default; the variable `GRAUPEL_NODE` counts as choosing.
   */
  node?: NodeOf<F> | undefined
  /** How ids are made up. @default layouts.twitter */
  layout?: Layout<F>
  /** Milliseconds since 1970, or a Date, that stands for timestamp 0. @default the layout's */
  epoch?: number | Date
  /** Generators in different namespaces may use the same node, because their ids never meet. Up to 255 characters. @default 'default' */
  namespace?: string
  /**
   * What to do when the clock has stepped back behind the last id: refuse, wait, count on ahead of the clock, or give out
   * what is unused of the past. A function is asked each time a decision is due, and returns one of these.
   * @default 'advance'
   */
  onRollback?: RollbackAction | ((event: RollbackEvent) => RollbackAction)
  /** What to do when a tick is used up. @default 'wait' */
  onOverflow?: OverflowAction
  /** Milliseconds that `'advance'` may count ahead of the clock, from 0 up. @default 1000, or two ticks of the layout if that is more */
  maxAheadMs?: number
  /**
   * Milliseconds that one wait may block, from 0 up; where it would take longer, the call throws at once, with
   * `retryAfterMs`. It bounds each wait and not the call: `fill` and `take` wait once for each tick they need. `nextAsync`
   * and `fillAsync` wait for a full tick to pass however long that is, and after a step back for at most `maxWaitMs`, or one
   * tick if that is longer. `createGenerator` waits for the locks of a state file for at most `maxWaitMs` in all.
   *
   * @default 50; for the locks 1000
   */
  maxWaitMs?: number
  /** The first sequence number of a new tick. `'random'` and `'rotate'` keep `id % n` even for slow generators, and use half of a tick at least. @default 'zero' */
  sequenceStart?: SequenceStartMode
  /** `'steady'` is read once and then carried by the monotonic clock. A function returns milliseconds since 1970; for tests and simulations: its generators share nothing with those on the real clock, and may make the same ids. @default 'wall' */
  clock?: 'wall' | 'steady' | (() => number)
  /**
   * Where the last id is remembered: `'host'`, in memory that all processes of this user on this host share, until the
   * host is restarted; a path such as `'/var/lib/app/ids.state'`, there and in a file, which loss of power does not
   * harm; `'process'`, for all threads of this one, which states that no other process uses this node; or `'thread'`,
   * which states that no other thread does, either. To pass `'host'` or a path needs the native engine.
   *
   * @default 'host'. The js engine then keeps the node for one process of this host, refuses a second one, and calls that
   * 'host', too. 'process' for a clock of your own, and in browsers.
   */
  state?: 'host' | 'process' | 'thread' | (string & {})
  /**
   * How far ids may be ahead of what a state file says: milliseconds, 1 to 86 400 000. It is
   * written twice in a window while ids are made, and after a loss of power the first id is up to a window later than
   * the last one was. @default 900
   */
  windowMs?: number
  /** `'native'` is never replaced silently; `GRAUPEL_ENGINE` overrides `'auto'`. @default 'auto' */
  engine?: EngineOption
}

const optionNames: readonly string[] = [
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

const nodeVariable = 'GRAUPEL_NODE'
const mostNamespace = 255
const mostWindowMs = 86_400_000
/** What the native engine counts in. */
const mostLockMs = 2 ** 31 - 1
/** Bytes in UTF-8; with the longest key it fits a page (`native/core/header.h`). Longer names are not shown, that is all. */
const mostDescription = 2048

/** Options with their defaults, checked. @internal */
export interface Settings<F extends readonly Field[]> extends Policy {
  readonly engine: EngineKind
  readonly layout: Layout<F>
  readonly node: number
  readonly namespace: string
  readonly sequenceStart: SequenceStartMode
  readonly clock: 'wall' | 'steady' | (() => number)
  readonly place: Place
  /** No other thread uses the node. */
  readonly isThread: boolean
  /** The state file as it was given; empty for other states. */
  readonly path: string
  readonly windowMs: number
  /** How long opening a state that is a file may wait for the locks of others. */
  readonly lockMs: number
}

/** @throws TypeError, RangeError, GraupelError by the codes that {@link createGenerator} lists. @internal */
export function settle<F extends readonly Field[]>(options: GeneratorOptions<F>): Settings<F> {
  if (typeof options !== 'object' || options === null) {
    throw typeError('ERR_OPTION_INVALID', `the options are ${show(options)}; pass an object such as { node: 7 }`)
  }
  for (const key of Object.keys(options)) {
    if (!optionNames.includes(key)) {
      throw typeError(
        'ERR_OPTION_UNKNOWN',
        `there is no option ${show(key)}; the options are ${optionNames.join(', ')}`,
      )
    }
  }
  const layout = layoutOf(options)
  const node = nodeOf(layout, options.node)
  const namespace = namespaceOf(options.namespace)
  const sequenceStart = oneOf(
    'sequenceStart',
    options.sequenceStart,
    Object.keys(startModes) as SequenceStartMode[],
    'zero',
  )
  const clock = clockOf(options.clock)
  const { engine: engineOption = 'auto' } = options
  checkEngineOption(engineOption, 'engine')
  const { place, path, isThread = false } = stateOf(options.state)
  if (place !== 'process') checkNative(`state is ${show(options.state)}`, engineOption)
  const engine = resolveEngine(engineOption)
  if (options.state === undefined && engine === 'js') checkAlone()
  return {
    engine,
    layout,
    node,
    namespace,
    sequenceStart,
    clock,
    place: options.state === undefined ? defaultPlace(engine, clock) : place,
    isThread,
    path,
    windowMs: windowOf(options.windowMs),
    onRollback:
      typeof options.onRollback === 'function'
        ? options.onRollback
        : oneOf('onRollback', options.onRollback, rollbackActions, 'advance'),
    onOverflow: oneOf('onOverflow', options.onOverflow, overflowActions, 'wait'),
    maxAheadMs: milliseconds('maxAheadMs', options.maxAheadMs, Math.max(1000, 2 * layout.tickMs)),
    maxWaitMs: milliseconds('maxWaitMs', options.maxWaitMs, 50),
    lockMs: Math.min(milliseconds('maxWaitMs', options.maxWaitMs, 1000), mostLockMs),
  }
}

/** What the engine has to know. @internal */
export function coreSpec(settings: Settings<readonly Field[]>, seed: number, nowMs: number): CoreSpec {
  const { layout, node, namespace, onRollback, clock, sequenceStart } = settings
  const { place, isThread, path, windowMs, lockMs } = settings
  const { timestamp, sequence, epochMs, tickMs, maxTick } = layout
  const nodeBits = placeNode(layout, node)
  // By the bits and not by the name: what two layouts with equal bits make must not be equal either. An injected clock
  // is a world of its own, which must not push the real one into its future.
  const world = typeof clock === 'function' ? 'injected' : 'real'
  const places = [timestamp.bits, timestamp.shift, sequence.bits, sequence.shift].join(' ')
  return {
    // Joined and not put together by a template, which would keep its pieces in memory for as long as the key lives.
    key: [world, epochMs, tickMs, places, nodeBits, namespace].join(' '),
    description: descriptionOf(layout),
    place,
    isThread,
    path: place === 'file' ? platform.absolutePath(path) : '',
    windowTicks: Math.ceil(windowMs / tickMs),
    lockMs,
    stateFolder: place === 'process' ? '' : platform.stateFolder(),
    epochMs,
    tickMs,
    maxTick,
    sequenceBits: sequence.bits,
    sequenceShift: sequence.shift,
    timestampShift: timestamp.shift,
    nodeBits,
    sequenceStart,
    seed,
    history: onRollback === 'reuse' || typeof onRollback === 'function',
    nowMs,
    clock,
  }
}

function defaultPlace(engine: EngineKind, clock: Settings<readonly Field[]>['clock']): Place {
  // A clock of the user's own makes ids that no other generator makes, and shall not find what an earlier run has left.
  if (typeof clock === 'function') return 'process'
  return engine === 'native' || platform.claims !== undefined ? 'host' : 'process'
}

const descriptions = new WeakMap<Layout, string>()

/** One text for all generators of a layout. */
function descriptionOf(layout: Layout): string {
  let description = descriptions.get(layout)
  if (description === undefined) {
    const { name, epochMs, tickMs, fields, unsigned } = layout
    description = JSON.stringify({ name, epochMs, tickMs, fields, unsigned })
    if (new TextEncoder().encode(description).length > mostDescription) {
      const isOwn = (field: string) => field === 'timestamp' || field === 'sequence'
      const short = fields.map(([field, bits], i) => [isOwn(field) ? field : `field${i}`, bits])
      description = JSON.stringify({ name: '', epochMs, tickMs, fields: short, unsigned })
    }
    descriptions.set(layout, description)
  }
  return description
}

function layoutOf<F extends readonly Field[]>({ layout, epoch }: GeneratorOptions<F>): Layout<F> {
  const chosen = layout === undefined ? (layouts.twitter as unknown as Layout<F>) : genuineLayout(layout)
  if (epoch === undefined) return chosen
  const epochMs = epoch instanceof Date ? epoch.getTime() : epoch
  checkEpochMs(epochMs, ', or a valid Date')
  return defineLayout({ ...(chosen as Layout), epochMs }) as unknown as Layout<F>
}

function nodeOf(layout: Layout, node: unknown): number {
  if (node !== undefined) return combineNode(layout, node)
  if (layout.nodeFields.length === 0) return 0
  const text = platform.environmentVariable(nodeVariable)
  if (text !== undefined) {
    if (!/^(0|[1-9][0-9]*)$/.test(text)) {
      throw typeError(
        'ERR_NODE_INVALID',
        `${nodeVariable} is ${show(text)}; set it to a whole number from 0 to ${layout.nodes - 1}`,
      )
    }
    return combineNode(layout, Number(text))
  }
  throw typeError(
    'ERR_NODE_REQUIRED',
    `no node was given, and two hosts with the same node make the same ids; pass a number from 0 to ${layout.nodes - 1} that no other host uses (a StatefulSet's ordinal, a row in a table, an entry of your configuration), or set ${nodeVariable}`,
  )
}

function namespaceOf(namespace: unknown = 'default'): string {
  if (typeof namespace !== 'string') {
    throw typeError('ERR_OPTION_INVALID', `namespace is ${show(namespace)} (${typeof namespace}); pass a string`)
  }
  if (namespace.length < 1 || namespace.length > mostNamespace || !namespace.isWellFormed()) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `namespace is ${show(namespace)}; pass 1 to ${mostNamespace} characters of well-formed text`,
    )
  }
  return namespace
}

function clockOf(clock: unknown = 'wall'): 'wall' | 'steady' | (() => number) {
  if (clock === 'wall' || clock === 'steady') return clock
  if (typeof clock !== 'function') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `clock is ${show(clock)}; pass 'wall', 'steady', or a function that returns milliseconds since 1970`,
    )
  }
  return () => {
    const ms: unknown = clock()
    if (typeof ms !== 'number') {
      throw typeError(
        'ERR_CLOCK_INVALID',
        `the clock returned ${show(ms)} (${typeof ms}); it has to return milliseconds since 1970 as a number`,
      )
    }
    // The widest that a Date can say (ECMAScript 21.4.1.1); false for NaN, too.
    if (!(Math.abs(ms) <= 8.64e15)) {
      throw rangeError(
        'ERR_CLOCK_INVALID',
        `the clock returned ${ms}; it has to return milliseconds since 1970 that a Date can hold`,
      )
    }
    return Math.floor(ms)
  }
}

function stateOf(state: unknown): { place: Place; path: string; isThread?: boolean } {
  if (state === undefined || state === 'process') return { place: 'process', path: '' }
  if (state === 'thread') return { place: 'process', path: '', isThread: true }
  if (state === 'host') return { place: 'host', path: '' }
  if (Object.prototype.toString.call(state) === '[object URL]') {
    throw typeError('ERR_OPTION_INVALID', 'state is a URL; pass the path, which fileURLToPath() of node:url gives')
  }
  if (typeof state !== 'string') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `state is ${show(state)}; pass 'host', 'process', 'thread', or the path of a file`,
    )
  }
  // 'hosts' is a mistake and not a file in the current folder.
  if (!/[./\\]/.test(state) || state.includes('\0')) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `state is ${show(state)}; pass 'host', 'process', 'thread', or a path with a slash or a dot, such as './ids.state'`,
    )
  }
  if (/^file:/i.test(state)) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `state is ${show(state)}, a URL; pass the path, which fileURLToPath() of node:url gives`,
    )
  }
  return { place: 'file', path: state }
}

const withoutOthers =
  "leave state out, and the js engine keeps this node for one process of this host, or pass state: 'process' if no other process uses this node"

/** @throws GraupelError `ERR_NATIVE_UNAVAILABLE` */
function checkNative(asked: string, engine: EngineOption): void {
  if (engine !== 'js' && (engine === 'native' || !isJsForced())) {
    requireNative(asked, withoutOthers)
    return
  }
  throw new GraupelError(
    'ERR_NATIVE_UNAVAILABLE',
    `${asked}, which only the native engine can do, and ${engine === 'js' ? "engine is 'js'" : "GRAUPEL_ENGINE is 'js'"}; ${withoutOthers}`,
  )
}

/** @throws GraupelError `ERR_STATE_UNREACHABLE` where other processes run the same program, of which the js engine would refuse all but the first. */
function checkAlone(): void {
  const siblings = platform.siblingProcesses()
  if (siblings === undefined) return
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `${siblings}, and processes cannot share a node with the js engine; use the native engine, or give each process a node of its own and pass state: 'process' to say so`,
  )
}

function windowOf(value: unknown): number {
  const windowMs = milliseconds('windowMs', value, 900)
  if (windowMs < 1 || windowMs > mostWindowMs) {
    throw rangeError('ERR_OPTION_INVALID', `windowMs is ${windowMs}; pass milliseconds from 1 to ${mostWindowMs}`)
  }
  return windowMs
}

function milliseconds(name: string, value: unknown, byDefault: number): number {
  if (value === undefined) return byDefault
  if (typeof value !== 'number') {
    throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)} (${typeof value}); pass milliseconds as a number`)
  }
  if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) {
    throw rangeError('ERR_OPTION_INVALID', `${name} is ${value}; pass milliseconds from 0 up`)
  }
  return value
}

function oneOf<T extends string>(name: string, value: unknown, allowed: readonly T[], byDefault: T): T {
  if (value === undefined) return byDefault
  if (!allowed.includes(value as T)) {
    throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)}; pass one of ${allowed.map(show).join(', ')}`)
  }
  return value as T
}
