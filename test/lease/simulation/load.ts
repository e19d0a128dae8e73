import { loadModule, type Mutation } from '../../simulation/load.ts'
import type { runWorld } from './world.ts'

/**
 * A signal without function: nothing in the world reads signals, and real ones would cost more than all the
 * rest.
 */
class AbortController {
  abort(): void {}
}

let original: Promise<typeof runWorld> | undefined

/**
 * Loads the world as one script, with or without a defect. A script of its own is three times as fast as
 * modules under vitest. The world without a defect is loaded once, so V8 compiles it once.
 */
export function loadWorld(mutation?: Mutation): Promise<typeof runWorld> {
  if (mutation !== undefined) return load(mutation)
  original ??= load()
  return original
}

async function load(mutation?: Mutation): Promise<typeof runWorld> {
  const entry = new URL('world.ts', import.meta.url)
  const module = await loadModule<{ runWorld: typeof runWorld }>(entry, { mutation, globals: { AbortController } })
  return module.runWorld
}
