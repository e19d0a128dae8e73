import { platform } from '#platform'
import { isJsForced } from '../engine/choose.js'
import type { Binding } from '../engine/native/core.js'

/** From this many numbers on, the addon writes them in a fifth of the time that JavaScript takes. */
const nativeFrom = 256

/** The functions of the addon that need no generator. */
export type Addon = Pick<Binding, 'writeNumbers' | 'writeUuids'>

/** `undefined` until it is needed. */
let found: Binding | null | undefined

/** Returns the addon; `null` if it is not available. */
export function findAddon(): Binding | null {
  if (found === undefined) {
    const loaded = isJsForced() ? undefined : platform.loadNative()
    found = loaded?.ok ? loaded.binding : null
  }
  return found
}

/** Returns the addon if it is available, and faster for so many numbers. */
export function addonFor(count: number): Addon | null {
  return count < nativeFrom ? null : findAddon()
}
