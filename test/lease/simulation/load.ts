import { loadModule, type Mutation } from '../../simulation/load.ts'
import type { runWorld } from './world.ts'

/**
 * A signal without function: nothing in the world reads signals, and real ones would cost more than all the
 * rest.
 */
class AbortController {
  abort(): void {}
}

/**
 * Loads the world as one script, with or without a defect. A script of its own is three times as fast as
 * modules under vitest.
 */
export async function loadWorld(mutation?: Mutation): Promise<typeof runWorld> {
  const entry = new URL('world.ts', import.meta.url)
  const module = await loadModule<{ runWorld: typeof runWorld }>(entry, { mutation, globals: { AbortController } })
  return module.runWorld
}
