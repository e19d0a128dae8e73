import { allowedAddon } from '../engine/choose.js'
import { uuidAt } from '../engine/native/core.js'
import type { Binding } from '../state/addon.js'

/**
 * `null` if it is not available, and `undefined` until it is needed: to ask each time would take longer than
 * to write the numbers.
 */
let addon: Binding | null | undefined

/** Returns the addon, which writes numbers without a generator; `undefined` if it is not available. */
export function findAddon(): Binding | undefined {
  if (addon === undefined) addon = allowedAddon() ?? null
  return addon ?? undefined
}

/** The functions of the addon that write UUIDs. They return `undefined` if Node-API fails. */
export interface NativeUuids {
  /**
   * Writes as text the 128 bits of a UUID, the most significant first. It takes 30 ns, and `uuidText` of
   * `codec/uuid.ts` 45 to 54.
   */
  text(a: number, b: number, c: number, d: number): string | undefined
  readonly writeMany: Binding['writeUuids']
}

/** Returns the functions that write UUIDs; `undefined` if the addon is not available. */
export function nativeUuids(): NativeUuids | undefined {
  const found = findAddon()
  if (found === undefined) return undefined
  const { mailbox, uuidText, writeUuids } = found
  const words = new Uint32Array(mailbox)
  const text = (a: number, b: number, c: number, d: number) => {
    words[uuidAt] = a
    words[uuidAt + 1] = b
    words[uuidAt + 2] = c
    words[uuidAt + 3] = d
    return uuidText()
  }
  return { text, writeMany: writeUuids }
}
