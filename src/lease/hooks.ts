import { raiseGeneration, readGeneration } from '../engine/generation.js'

// park() and resume() announce a copy of the machine by the generation, which all threads compare. A lease
// cannot tell by the generation alone whether a hook has changed it, or the device of a copied machine. So
// the leases of a thread tell each other of their hooks (docs/lease-proof.md, section D).

/** A change of the generation that a hook of this thread has made, and nothing else. */
export interface GenerationChange {
  readonly before: number
  readonly after: number
}

/** A lease that the hooks of other leases concern. */
export interface HookedLease {
  /** Goes on with its node after the hook of another lease. */
  goOn(change: GenerationChange): void
  /** Looks whether its node belongs to another machine. */
  wake(): void
  /** The number of the hook by which the lease was last resumed; 0 if it was not. */
  readonly resumedAt: number
}

/** The leases of this thread that are neither released nor ended. */
export const hookedLeases = new Set<HookedLease>()

/** Counts the hooks of this thread. */
let hooks = 0

/**
 * Raises the generation, because the machine is about to be copied, or may be a copy.
 *
 * @param seal - Seals the state of the lease. The generation is read before and after.
 * @param goesOn - Whether another lease goes on with its node.
 * @returns The number of this hook; and its change, unless another thread or a device has changed the
 * generation meanwhile. Then it is not known whether this machine is the one that has the nodes.
 */
export function announceCopy(
  own: HookedLease,
  seal: () => void,
  goesOn: (other: HookedLease) => boolean,
): { readonly at: number; readonly change: GenerationChange | undefined } {
  const before = readGeneration()
  raiseGeneration()
  seal()
  const after = readGeneration()
  const change = after === before + 1 ? { before, after } : undefined
  for (const other of hookedLeases) {
    if (other === own) continue
    if (change !== undefined && goesOn(other)) other.goOn(change)
    other.wake()
  }
  hooks++
  return { at: hooks, change }
}
