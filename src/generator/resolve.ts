import { platform } from '#platform'
import { GraupelError, typeError } from '../core/errors.js'
import { readOptions } from '../core/options.js'
import { chooseEngine, type EngineKind } from '../engine/choose.js'
import { type Place, type SequenceStartMode, startModes } from '../engine/engine.js'
import { namespaceOf, type StateOptions } from '../engine/source/core-spec.js'
import { nodeFromVariable, nodeVariable } from '../engine/source/environment.js'
import { type ResolvedLease, readLeaseOption } from '../engine/source/handle.js'
import { combineNode, type Field, type Layout, layoutOf } from '../layout/index.js'
import { overflowActions, type Policy, rollbackActions } from '../policy/policy.js'
import { clockOf, milliseconds, oneOf, stateOf, windowOf } from './check.js'
import { type GeneratorOptions, optionNames } from './options.js'

/** The native engine counts milliseconds in 31 bits. */
const maxLockMs = 2 ** 31 - 1

/** The options of a generator, checked, with their defaults. @internal */
export interface ResolvedOptions<F extends readonly Field[] = readonly Field[]> extends Policy, StateOptions {
  readonly engine: EngineKind
  readonly layout: Layout<F>
  /** The node as a number, or the lease that decides the node. */
  readonly origin: number | ResolvedLease<F>
}

/**
 * Checks options.
 *
 * @param seed - The seed for `sequenceStart: 'random'`; random by default.
 * @throws TypeError, RangeError, GraupelError by the codes that {@link createGenerator} lists.
 * @internal
 */
export function resolveOptions<F extends readonly Field[]>(
  given: GeneratorOptions<F>,
  seed?: number,
): ResolvedOptions<F> {
  const options = readOptions(given, optionNames, '{ node: 7 }')
  const { clock: givenClock, state, engine: wanted, maxWaitMs, onRollback } = options
  const lease = options.lease === undefined ? undefined : readLeaseOption<F>(options.lease)
  if (lease !== undefined) checkBesideLease(options)
  const layout = lease?.layout ?? layoutOf(options)
  const origin = lease ?? nodeOf(layout, options.node)
  const namespace = lease?.handle.namespace ?? namespaceOf(options.namespace)
  const modes = Object.keys(startModes) as SequenceStartMode[]
  const sequenceStart = oneOf('sequenceStart', options.sequenceStart, modes, 'zero')
  const clock = clockOf(givenClock)
  // Each process has a lease of its own.
  const place = stateOf(lease === undefined ? state : 'process')
  const engine =
    lease === undefined
      ? chooseEngine(wanted ?? 'auto', state)
      : engineBesideLease(wanted ?? 'auto', lease.handle.engine)
  return {
    origin,
    engine,
    layout,
    namespace,
    sequenceStart,
    seed: seed ?? (sequenceStart === 'random' ? randomSeed() : 0),
    clock,
    ...place,
    ...(lease !== undefined && { bound: 'external' }),
    ...(lease === undefined && state === undefined && { place: defaultPlace(engine, clock) }),
    windowMs: windowOf(options.windowMs),
    onRollback:
      typeof onRollback === 'function' ? onRollback : oneOf('onRollback', onRollback, rollbackActions, 'advance'),
    onOverflow: oneOf('onOverflow', options.onOverflow, overflowActions, 'wait'),
    history: onRollback === 'reuse' || typeof onRollback === 'function',
    maxAheadMs: milliseconds('maxAheadMs', options.maxAheadMs, Math.max(1000, 2 * layout.tickMs)),
    maxWaitMs: milliseconds('maxWaitMs', maxWaitMs, 50),
    lockMs: Math.min(milliseconds('maxWaitMs', maxWaitMs, 1000), maxLockMs),
  }
}

/** The options that a lease decides. */
const decidedByLease = ['node', 'layout', 'epoch', 'namespace', 'state', 'windowMs'] as const

function checkBesideLease(options: GeneratorOptions<readonly Field[]>): void {
  for (const name of decidedByLease) {
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

/** Chooses the engine of a leased generator. The lease's thread has to be able to stop the generator. */
function engineBesideLease(wanted: unknown, ofLease: EngineKind): EngineKind {
  const engine = chooseEngine(ofLease === 'js' && wanted === 'auto' ? 'js' : wanted, 'process')
  if (ofLease === 'native' || engine === 'js') return engine
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    "engine is 'native', and the thread of the lease runs on the js engine, which could not stop a native generator; leave engine out, and give all threads one GRAUPEL_ENGINE",
    { option: 'engine' },
  )
}

function nodeOf(layout: Layout, node: unknown): number {
  if (node !== undefined) return combineNode(layout, node)
  if (layout.nodeFields.length === 0) return 0
  const found = nodeFromVariable()
  if (found !== undefined) return combineNode(layout, found.node)
  throw typeError(
    'ERR_NODE_REQUIRED',
    `no node was given, and two hosts with the same node make the same ids; pass node: a number from 0 to ${layout.nodes - 1} that no other host uses, set ${nodeVariable}, or lease a node (docs/nodes.md)`,
    'node',
  )
}

/** Draws a seed. Node takes 2 ms to load its `crypto`, so this is called only if a seed is needed. */
function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] as number
}

function defaultPlace(engine: EngineKind, clock: StateOptions['clock']): Place {
  // A simulation must not find ids on the host that an earlier simulation has made.
  if (typeof clock === 'function') return 'process'
  return engine === 'native' || platform.claims !== undefined ? 'host' : 'process'
}
