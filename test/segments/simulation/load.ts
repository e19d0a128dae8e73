import { loadModule, type Mutation } from '../../simulation/load.ts'
import type { runWorld } from './world.ts'

/** Bundles the world into one script, with the shipped code or with a defect. */
export async function loadWorld(mutation?: Mutation): Promise<typeof runWorld> {
  const module = await loadModule<{ runWorld: typeof runWorld }>(new URL('world.ts', import.meta.url), {
    mutation,
    inject: new URL('globals.ts', import.meta.url),
    define: {
      'Math.random': 'simulatedRandom',
      'crypto.randomUUID': 'simulatedName',
      'crypto.getRandomValues': 'simulatedValues',
    },
    platform: new URL('platform.ts', import.meta.url),
  })
  return module.runWorld
}
