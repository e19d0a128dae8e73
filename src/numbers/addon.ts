import { allowedAddon } from '../engine/choose.js'
import type { Binding } from '../engine/native/core.js'

/** From this many numbers on, the addon writes them in a fifth of the time that JavaScript takes. */
const nativeFrom = 256

/** The functions of the addon that need no generator. */
export type Addon = Pick<Binding, 'writeNumbers' | 'writeUuids'>

let addon: Addon | undefined

/** Returns the addon if it is available, and faster for so many numbers. */
export function addonFor(count: number): Addon | undefined {
  if (count < nativeFrom) return undefined
  addon ??= allowedAddon()
  return addon
}
