import type { Clock } from '../../../src/core/timing.js'
import { bundle, type Mutation } from '../../simulation/load.ts'

/** The modules of one process. */
export type Modules = typeof import('./entry.ts')

/** Starts a process: runs all modules once more. */
export type Start = (clock: Clock) => Modules

/** Bundles the shipped code, with or without a defect. */
export async function loadProcess(mutation?: Mutation): Promise<Start> {
  const script = await bundle(new URL('entry.ts', import.meta.url), {
    mutation,
    platform: new URL('platform.ts', import.meta.url),
  })
  const run = new Function('module', 'exports', 'simulatedClock', script)
  return (clock) => {
    const module = { exports: {} as Modules }
    run(module, module.exports, clock)
    return module.exports
  }
}
