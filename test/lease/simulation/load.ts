import { loadModule, type Mutation } from '../../simulation/load.ts'
import type { runWorld } from './world.ts'

/** Nothing in the world looks at a signal, and a real one for each call would be the dearest thing in it. */
class AbortController {
  abort(): void {}
}

/**
 * The world as one script, with the source as it is, or with a defect. A script of its own is three times as fast as modules under
 * vitest.
 */
export async function loadWorld(mutation?: Mutation): Promise<typeof runWorld> {
  const entry = new URL('world.ts', import.meta.url)
  const module = await loadModule<{ runWorld: typeof runWorld }>(entry, { mutation, globals: { AbortController } })
  return module.runWorld
}
