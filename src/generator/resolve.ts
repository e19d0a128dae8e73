import { platform } from '#platform'
import { typeError } from '../core/errors.js'
import { readOptions, readRows } from '../core/options.js'
import { chooseEngine, type EngineKind } from '../engine/choose.js'
import type { StateOptions } from '../engine/source/core-spec.js'
import { nodeFromVariable, nodeVariable } from '../engine/source/environment.js'
import type { ResolvedLease } from '../engine/source/shared-lease.js'
import { combineNode, type Field, type Layout, optionsElsewhere, resolveLayout, usualAheadMs } from '../layout/index.js'
import type { Policy } from '../policy/policy.js'
import { resolveLease } from './lease-option.js'
import { type GeneratorOptions, generatorRows } from './options.js'

/** Names of other options, and the option to pass. */
const elsewhere = { ...optionsElsewhere, windowMs: 'reserveMs with a state file, or windowMs to acquireLease' }

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
  const own = readOptions(given, Object.keys(generatorRows), '{ node: 7 }', elsewhere)
  const lease = resolveLease<F>(own)
  const options = readRows(own, generatorRows)
  const { engine: wanted, clock, sequenceStart, onRollback } = options
  const layout = lease?.layout ?? resolveLayout(options)
  const origin = lease ?? chooseNode(layout, options.node)
  // A simulation must not find ids on the host that an earlier simulation has made.
  const state = options.state ?? (typeof clock === 'function' ? 'process' : undefined)
  // `null` counts as not given, too.
  const engine = chooseEngine(wanted ?? 'auto', lease === undefined ? state : 'process')
  return {
    origin,
    engine,
    layout,
    namespace: lease?.handle.namespace ?? options.namespace,
    sequenceStart,
    seed: seed ?? (sequenceStart === 'random' ? randomSeed() : 0),
    clock,
    state: lease === undefined ? stateFor(state, options.reserveMs, engine) : { kind: 'lease' },
    onRollback,
    onOverflow: options.onOverflow,
    history: onRollback === 'reuse' || typeof onRollback === 'function',
    maxAheadMs: options.maxAheadMs ?? usualAheadMs(layout),
    maxWaitMs: options.maxWaitMs,
    openTimeoutMs: options.openTimeoutMs,
  }
}

function chooseNode(layout: Layout, node: unknown): number {
  if (node !== undefined) return combineNode(layout, node)
  if (layout.nodeFields.length === 0) return 0
  const found = nodeFromVariable()
  if (found !== undefined) return combineNode(layout, found.node, found.variable)
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

/** Returns the state of the option, or the default. */
function stateFor(given: string | undefined, reserveMs: number, engine: EngineKind): StateOptions['state'] {
  if (given === 'process' || given === 'thread' || given === 'host') return { kind: given }
  if (given !== undefined) return { kind: 'file', path: given, reserveMs }
  return { kind: engine === 'native' || platform.claims !== undefined ? 'host' : 'process' }
}
