import { platform } from '#platform'
import { rangeError, show, typeError } from '../core/errors.js'
import { millisecondsFrom, oneOf, readOptions, textFrom } from '../core/options.js'
import { chooseEngine, type EngineKind } from '../engine/choose.js'
import type { StateOptions } from '../engine/source/core-spec.js'
import { nodeFromVariable, nodeVariable } from '../engine/source/environment.js'
import { type ResolvedLease, readLeaseOption } from '../engine/source/shared-lease.js'
import { combineNode, type Field, type Layout, layoutOf, optionsElsewhere } from '../layout/index.js'
import { overflowActions, type Policy, rollbackActions } from '../policy/policy.js'
import { type SequenceStartMode, startModes } from '../state/engine.js'
import { type GeneratorOptions, optionNames } from './options.js'

/** The native engine counts milliseconds in 31 bits. */
const maxLockMs = 0x7fff_ffff
const maxWindowMs = 86_400_000

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
  const options = readOptions(given, optionNames, '{ node: 7 }', optionsElsewhere)
  const { clock: givenClock, state, engine: wanted, maxWaitMs, onRollback } = options
  const lease = options.lease === undefined ? undefined : readLeaseOption<F>(options.lease)
  if (lease !== undefined) checkBesideLease(options)
  const layout = lease?.layout ?? layoutOf(options)
  const origin = lease ?? nodeOf(layout, options.node)
  const namespace = lease?.handle.namespace ?? textFrom('namespace', options.namespace, 'default')
  const modes = Object.keys(startModes) as SequenceStartMode[]
  const sequenceStart = oneOf('sequenceStart', options.sequenceStart, modes, 'zero')
  const clock = clockOf(givenClock)
  const windowMs = millisecondsFrom('windowMs', options.windowMs, 900, 1, maxWindowMs)
  const givenState = lease === undefined ? stateOf(state, windowMs) : ({ kind: 'lease' } as const)
  const engine = chooseEngine(wanted ?? 'auto', lease === undefined ? state : 'process')
  return {
    origin,
    engine,
    layout,
    namespace,
    sequenceStart,
    seed: seed ?? (sequenceStart === 'random' ? randomSeed() : 0),
    clock,
    state: givenState ?? defaultState(engine, clock),
    onRollback:
      typeof onRollback === 'function' ? onRollback : oneOf('onRollback', onRollback, rollbackActions, 'advance'),
    onOverflow: oneOf('onOverflow', options.onOverflow, overflowActions, 'wait'),
    history: onRollback === 'reuse' || typeof onRollback === 'function',
    maxAheadMs: millisecondsFrom('maxAheadMs', options.maxAheadMs, Math.max(1000, 2 * layout.tickMs), 0),
    maxWaitMs: millisecondsFrom('maxWaitMs', maxWaitMs, 50, 0),
    lockMs: Math.min(millisecondsFrom('maxWaitMs', maxWaitMs, 1000, 0), maxLockMs),
  }
}

/** Options that a lease decides. */
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

function defaultState(engine: EngineKind, clock: StateOptions['clock']): StateOptions['state'] {
  // A simulation must not find ids on the host that an earlier simulation has made.
  if (typeof clock === 'function') return { kind: 'process' }
  return { kind: engine === 'native' || platform.claims !== undefined ? 'host' : 'process' }
}

/** Checks the option `clock`. Wraps a function to check what it returns: `ERR_CLOCK_INVALID`. */
function clockOf(clock: unknown = 'wall'): 'wall' | 'steady' | (() => number) {
  if (clock === 'wall' || clock === 'steady') return clock
  if (typeof clock !== 'function') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `clock is ${show(clock)}; pass 'wall', 'steady', or a function that returns milliseconds since 1970`,
      'clock',
    )
  }
  return () => {
    const ms: unknown = clock()
    if (typeof ms !== 'number') {
      throw typeError(
        'ERR_CLOCK_INVALID',
        `the clock returned ${show(ms)} (${typeof ms}); return milliseconds since 1970 as a number`,
      )
    }
    // The range of a Date (ECMAScript 21.4.1.1). The comparison is false for NaN, too.
    if (!(Math.abs(ms) <= 8.64e15)) {
      throw rangeError(
        'ERR_CLOCK_INVALID',
        `the clock returned ${ms}; return milliseconds since 1970 that a Date can hold`,
      )
    }
    return Math.floor(ms)
  }
}

/** Checks the option `state`; `undefined` for its default, which depends on the engine. */
function stateOf(state: unknown, windowMs: number): StateOptions['state'] | undefined {
  if (state === undefined) return undefined
  if (state === 'process' || state === 'thread' || state === 'host') return { kind: state }
  if (Object.prototype.toString.call(state) === '[object URL]') {
    throw typeError(
      'ERR_OPTION_INVALID',
      'state is a URL; pass the path, which fileURLToPath() of node:url gives',
      'state',
    )
  }
  if (typeof state !== 'string') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `state is ${show(state)}; pass 'host', 'process', 'thread', or the path of a file`,
      'state',
    )
  }
  // A word such as 'hosts' is a mistake, and not the name of a file in the current folder.
  if (!/[./\\]/.test(state) || state.includes('\0')) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `state is ${show(state)}; pass 'host', 'process', 'thread', or a path with a slash or a dot, such as './ids.state'`,
      'state',
    )
  }
  if (/^file:/i.test(state)) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `state is ${show(state)}, a URL; pass the path, which fileURLToPath() of node:url gives`,
      'state',
    )
  }
  return { kind: 'file', path: state, windowMs }
}
