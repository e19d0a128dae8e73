import { platform } from '#platform'
import { type Layout, shiftNode } from '../../layout/index.js'
import type { CoreSpec, SequenceStartMode, StateSpec } from '../../state/engine.js'
import { describeLayout, fileKeyOf, makeKey } from '../../state/key.js'

/** A state file. */
interface FileOption {
  readonly kind: 'file'
  /** The path as it was given. */
  readonly path: string
  readonly reserveMs: number
}

/**
 * The options of a generator that say which state it counts in, and how. A lease that moves to another node
 * keeps them.
 */
export interface StateOptions {
  readonly layout: Layout
  readonly namespace: string
  readonly clock: 'wall' | 'steady' | (() => number)
  readonly state: { readonly kind: Exclude<StateSpec['kind'], 'file'> } | FileOption
  /** As the option. */
  readonly openTimeoutMs: number
  readonly sequenceStart: SequenceStartMode
  /** The seed for `sequenceStart: 'random'`; 32 bits. */
  readonly seed: number
  /** Whether the marks of past ticks are kept. */
  readonly history: boolean
}

/**
 * Describes to an engine the state of one node.
 *
 * @param nowMs - The time that the clock shows.
 * @param generation - The generation of the machine at which the node was given or leased.
 */
export function coreSpec(options: StateOptions, node: number, nowMs: number, generation: number): CoreSpec {
  const { layout, namespace, clock, state, openTimeoutMs } = options
  const { timestamp, sequence, epochMs, tickMs, maxTick } = layout
  // An injected clock has states of its own, so that it cannot push the states of the real clock into its
  // future.
  const key = makeKey(layout, node, namespace, typeof clock === 'function' ? 'injected' : 'real')
  return {
    key,
    description: describeLayout(layout),
    state: state.kind === 'file' ? fileSpec(state, key, tickMs) : state,
    openTimeoutMs,
    // Also for a state in the process, whose word may have moved to a page.
    stateFolder: platform.stateFolder(),
    epochMs,
    tickMs,
    maxTick,
    sequenceBits: sequence.bits,
    sequenceShift: sequence.shift,
    timestampShift: timestamp.shift,
    nodeBits: shiftNode(layout, node),
    sequenceStart: options.sequenceStart,
    seed: options.seed,
    history: options.history,
    nowMs,
    generation,
    clock,
  }
}

function fileSpec({ kind, path, reserveMs }: FileOption, key: string, tickMs: number): StateSpec {
  const reserveTicks = Math.ceil(reserveMs / tickMs)
  return { kind, path: platform.absolutePath(path), fileKey: fileKeyOf(key), reserveTicks }
}
