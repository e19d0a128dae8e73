import { platform } from '#platform'
import { engineOf, openCore } from '../engine/open.js'
import { leasedSpec } from '../generator/leased.js'
import { settle } from '../generator/settings.js'
import { type LeaseHandle, readLeaseOption } from './handle.js'
import type { LeaseView } from './shared.js'

/**
 * Lets no thread of this process reserve another slot of a node that is leased: the floor is raised to the ceiling.
 *
 * @returns The tick after all that were used; the ceiling, where that cannot be told.
 */
export function sealNode(handle: LeaseHandle, { node, generation, floor, ceiling }: LeaseView): number {
  try {
    const settings = settle({ lease: handle })
    const spec = leasedSpec(settings, readLeaseOption(handle), { node, generation }, 0, platform.wallMs())
    const core = openCore(engineOf(spec.key) ?? settings.engine, spec)
    try {
      const { bits } = settings.layout.sequence
      const word = core.raiseFloor(BigInt(ceiling) << BigInt(bits), 0)
      return word === 0n ? floor : Number((word - 1n) >> BigInt(bits)) + 1
    } finally {
      core.close()
    }
  } catch {
    // A worker that cannot reach the states of the others, for example. All of the window counts as used then.
    return ceiling
  }
}
