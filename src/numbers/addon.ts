import { allowedAddon } from '../engine/choose.js'
import type { Binding } from '../engine/native/core.js'

/** From this many numbers on, the addon writes them in a fifth of the time that JavaScript takes. */
export const nativeFrom = 256

let addon: Binding | undefined

/** Returns the addon, which writes numbers without a generator; `undefined` if it is not available. */
export function findAddon(): Binding | undefined {
  addon ??= allowedAddon()
  return addon
}
