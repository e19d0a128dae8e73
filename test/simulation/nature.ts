import type { Random } from '../support/random.ts'
import type { VirtualTime } from '../support/virtual-time.ts'
import { faultOf } from './faults.ts'

/** What of a world faults happen to. */
interface Ground<K extends string> {
  readonly shape: { readonly steps: number; readonly stepMs: number; readonly faults: Readonly<Record<K, number>> }
  readonly time: VirtualTime
  readonly random: Random
  readonly server: { isCut: boolean }
  isCalm: boolean
  note(process: number | undefined, node: number | undefined, text: () => string): void
}

/** Lets faults of these kinds happen for as long as the shape of the world says, and then ends them all. */
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
    if (kind !== undefined) faults[kind]()
  }
  world.isCalm = true
  world.server.isCut = false
  for (const process of processes) process.recover()
  world.note(undefined, undefined, () => 'the faults end')
}

/** Runs a world without the stacks of errors: a lost answer is an error, and its stack costs as much as all the rest of a call. */
export async function withoutStacks<T>(run: () => Promise<T>): Promise<T> {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return await run()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
