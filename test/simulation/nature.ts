import type { Random } from '../support/random.ts'
import type { VirtualTime } from '../support/virtual-time.ts'
import { faultOf } from './faults.ts'

/** Counts the faults of a world, for the ledger. */
export interface Tally {
  /** How often a process was killed. */
  kills: number
  /** All faults: those that come by themselves, also kills, and those in calls of the store. */
  faults: number
}

/** The parts of a world that have faults. */
interface Ground<K extends string> {
  readonly shape: { readonly steps: number; readonly stepMs: number; readonly faults: Readonly<Record<K, number>> }
  readonly tally: Tally
  readonly time: VirtualTime
  readonly random: Random
  readonly server: { isCut: boolean; readonly isReplicaAway: boolean; moveReplica(isPromoted: boolean): void }
  isCalm: boolean
  note(process: number | undefined, node: number | undefined, text: () => string): void
}

/** Makes faults of these kinds for as long as the shape of the world says, and then ends all faults. */
export async function letFaultsHappen<K extends string>(
  world: Ground<K>,
  kinds: readonly K[],
  faults: Readonly<Record<K, () => void>>,
  processes: readonly { recover(): void }[],
): Promise<void> {
  const { steps, stepMs, faults: weights } = world.shape
  for (let step = 0; step < steps; step++) {
    await world.time.sleep(world.random() * stepMs)
    const kind = faultOf(kinds, weights, world.random)
    if (kind === undefined) continue
    world.tally.faults++
    if (kind === 'crash') world.tally.kills++
    faults[kind]()
  }
  world.isCalm = true
  world.server.isCut = false
  if (world.server.isReplicaAway) world.server.moveReplica(false)
  for (const process of processes) process.recover()
  world.note(undefined, undefined, () => 'the faults end')
}

/**
 * Runs a world without stacks of errors: a lost answer is an error, and its stack costs as much as the rest
 * of the call.
 */
export async function withoutStacks<T>(run: () => Promise<T>): Promise<T> {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return await run()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
