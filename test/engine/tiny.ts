import { readGeneration } from '../../src/engine/generation.js'
import { coreSpec } from '../../src/engine/source/core-spec.js'
import { resolveOptions } from '../../src/generator/resolve.js'
import { defineLayout } from '../../src/layout/index.js'
import type { CoreSpec } from '../../src/state/engine.js'

// Cores with eight slots a tick, below ceilings that calls raise.

/** A layout with eight slots a tick. */
export const layout = defineLayout({
  name: 'tiny',
  epochMs: Date.UTC(2025, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 10],
    ['sequence', 3],
  ],
})
export const tick = 1000n
/** The first slot of the tick that the clock shows. */
export const nowSlot = tick * 8n
export const clock = () => layout.epochMs + Number(tick) * layout.tickMs

/** Describes a core whose clock stands still at `tick`. */
export function specFor(namespace: string, changes: Partial<CoreSpec> = {}, node = 1): CoreSpec {
  const options = resolveOptions({ layout, node, namespace, clock, state: 'process', maxAheadMs: 100 }, 1)
  return { ...coreSpec(options, node, clock(), readGeneration()), state: { kind: 'lease' }, ...changes }
}

/** Describes a core of a layout whose runs have up to 16 slots. Runs of the tiny layout have one slot. */
export function wideSpecFor(namespace: string): CoreSpec {
  const [timestamp, worker] = layout.fields
  const wide = defineLayout({ ...layout, name: 'wide', fields: [timestamp, worker, ['sequence', 10]] })
  const options = resolveOptions({ layout: wide, node: 1, namespace, clock, state: 'process', maxAheadMs: 100 }, 1)
  return { ...coreSpec(options, 1, clock(), readGeneration()), state: { kind: 'lease' } }
}

export const slotOf = (id: bigint) => ((id >> 13n) << 3n) | (id & 7n)
export const nodeOf = (id: bigint) => (id >> 3n) & 1023n
