import { platform } from '#platform'
import { isJsForced } from '../engine/choose.js'
import type { Binding } from '../engine/native/core.js'

/** From this many numbers on, the addon writes them in a fifth of the time that JavaScript takes. */
const nativeFrom = 256

/** The functions of the addon that need no generator. */
export type Addon = Pick<Binding, 'writeNumbers' | 'writeUuids'>

/** `null` if the addon is not available, and `undefined` until it is needed. */
let addon: Addon | null | undefined

/** Returns the addon to write so many numbers without a generator, if they are many and it is available. */
export function addonFor(count: number): Addon | null {
  if (count < nativeFrom) return null
  if (addon === undefined) addon = load()
  return addon
}

function load(): Addon | null {
  if (isJsForced()) return null
  const loaded = platform.loadNative()
  return loaded.ok ? loaded.binding : null
}
