import { platform } from '#platform'
import type { CoreSpec } from '../engine/engine.js'
import { describeLayout, fileKeyOf, makeKey } from '../engine/key.js'
import { type Field, placeNode } from '../layout/index.js'
import type { Settings } from './settings.js'

/** What the engine needs to know of a generator. @param nowMs - What its clock shows. @internal */
export function coreSpec(settings: Settings<readonly Field[]>, seed: number, nowMs: number): CoreSpec {
  const { layout, node, namespace, onRollback, clock, sequenceStart } = settings
  const { place, bound, isThread, path, windowMs, lockMs } = settings
  const { timestamp, sequence, epochMs, tickMs, maxTick } = layout
  // An injected clock has states of its own, so that it cannot push those of the real one into its future.
  const key = makeKey(layout, node, namespace, typeof clock === 'function' ? 'injected' : 'real')
  return {
    key,
    fileKey: bound === 'file' ? fileKeyOf(key) : '',
    description: describeLayout(layout),
    place,
    bound,
    isThread,
    path: bound === 'file' ? platform.absolutePath(path) : '',
    windowTicks: Math.ceil(windowMs / tickMs),
    lockMs,
    // Also for a state in the process, whose word may have moved to a page.
    stateFolder: platform.stateFolder(),
    epochMs,
    tickMs,
    maxTick,
    sequenceBits: sequence.bits,
    sequenceShift: sequence.shift,
    timestampShift: timestamp.shift,
    nodeBits: placeNode(layout, node),
    sequenceStart,
    seed,
    history: onRollback === 'reuse' || typeof onRollback === 'function',
    nowMs,
    clock,
  }
}
