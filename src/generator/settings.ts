import { platform } from '#platform'
import { GraupelError, show, typeError } from '../core/errors.js'
import { readOptions } from '../core/options.js'
import { chooseEngine, type EngineKind } from '../engine/choose.js'
import { type Bound, type Place, type SequenceStartMode, startModes } from '../engine/engine.js'
import {
  checkEpochMs,
  checkMakesIds,
  combineNode,
  defineLayout,
  type Field,
  genuineLayout,
  type Layout,
  layouts,
} from '../layout/index.js'
import { type LeaseSettings, readLeaseOption } from '../lease/handle.js'
import { overflowActions, type Policy, rollbackActions } from '../policy/policy.js'
import { clockOf, milliseconds, namespaceOf, oneOf, stateOf, windowOf } from './check.js'
import { nodeVariable } from './node-from-environment.js'
import { type GeneratorOptions, optionNames } from './options.js'

/** The native engine counts milliseconds in 31 bits. */
const maxLockMs = 2 ** 31 - 1

/** The options of a generator, checked, with their defaults. @internal */
export interface Settings<F extends readonly Field[]> extends Policy {
  readonly engine: EngineKind
  readonly layout: Layout<F>
  readonly node: number
  readonly namespace: string
  readonly sequenceStart: SequenceStartMode
  readonly clock: 'wall' | 'steady' | (() => number)
  readonly place: Place
  readonly bound: Bound
  /** No other thread uses the node. */
  readonly isThread: boolean
  /** The state file as it was given; empty for other states. */
  readonly path: string
  readonly windowMs: number
  /** How long opening a state file may wait for the locks of other processes. */
  readonly lockMs: number
  /** What says which node it is, and until when. */
  readonly lease: LeaseSettings<F> | undefined
}

/** Checks options. @throws TypeError, RangeError, GraupelError by the codes that {@link createGenerator} lists. @internal */
export function settle<F extends readonly Field[]>(options: GeneratorOptions<F>): Settings<F> {
  options = readOptions(options, optionNames, '{ node: 7 }')
  const lease = options.lease === undefined ? undefined : readLeaseOption<F>(options.lease)
  if (lease !== undefined) checkBesideLease(options)
  const layout = lease?.layout ?? layoutOf(options)
  const node = lease === undefined ? nodeOf(layout, options.node) : 0
  const namespace = lease?.handle.namespace ?? namespaceOf(options.namespace)
  const sequenceStart = oneOf(
    'sequenceStart',
    options.sequenceStart,
    Object.keys(startModes) as SequenceStartMode[],
    'zero',
  )
  const clock = clockOf(options.clock)
  // A lease is of one process.
  const state = lease === undefined ? options.state : 'process'
  const { place, bound, path, isThread } = stateOf(state)
  const { engine: wanted = 'auto' } = options
  const isLeasedInJs = lease?.handle.engine === 'js'
  const engine = chooseEngine(isLeasedInJs && wanted === 'auto' ? 'js' : wanted, state)
  if (isLeasedInJs && engine === 'native') {
    throw new GraupelError(
      'ERR_STATE_UNREACHABLE',
      'the thread that has the lease runs on the js engine, and could not stop a native generator when the lease ends; leave engine out, and give all threads one GRAUPEL_ENGINE',
    )
  }
  return {
    engine,
    layout,
    node,
    namespace,
    sequenceStart,
    clock,
    place: state === undefined ? defaultPlace(engine, clock) : place,
    bound: lease === undefined ? bound : 'external',
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
    lockMs: Math.min(milliseconds('maxWaitMs', options.maxWaitMs, 1000), maxLockMs),
    lease,
  }
}

/** What a lease brings, and no option may say. */
const broughtByLease = ['node', 'layout', 'epoch', 'namespace', 'state', 'windowMs'] as const

function checkBesideLease(options: GeneratorOptions<readonly Field[]>): void {
  for (const name of broughtByLease) {
    if (options[name] !== undefined) {
      throw typeError('ERR_OPTION_INVALID', `${name} is given beside lease, which decides it; leave ${name} out`, name)
    }
  }
  if (typeof options.clock === 'function') {
    throw typeError(
      'ERR_OPTION_INVALID',
      "clock is a function, and a lease is bounded by the time of its store; pass 'wall' or 'steady'",
      'clock',
    )
  }
}

/** The layout of options, with their epoch. @throws as {@link settle} */
export function layoutOf<F extends readonly Field[]>({
  layout,
  epoch,
}: Pick<GeneratorOptions<F>, 'layout' | 'epoch'>): Layout<F> {
  const chosen = layout === undefined ? (layouts.twitter as unknown as Layout<F>) : genuineLayout(layout)
  checkMakesIds(chosen)
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
    `no node was given, and two hosts with the same node make the same ids; pass a number from 0 to ${layout.nodes - 1} that no other host uses (a StatefulSet's ordinal, an entry of your configuration), set ${nodeVariable}, or lease a node (docs/leases.md)`,
  )
}

function defaultPlace(engine: EngineKind, clock: Settings<readonly Field[]>['clock']): Place {
  // The ids of a clock function are its own, and a simulation must not find what an earlier one has left on the host.
  if (typeof clock === 'function') return 'process'
  return engine === 'native' || platform.claims !== undefined ? 'host' : 'process'
}
