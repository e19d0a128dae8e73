import { uuidText } from '../codec/uuid.js'
import { halves, high, low, whole } from '../core/typed-array.js'
import type { NativeUuids } from '../engine/native/core.js'
import type { Layout } from '../layout/index.js'
import { nativeFrom } from '../numbers/addon.js'
import { UuidBits, type UuidVersion } from './bits.js'

/**
 * Returns functions that write ids of a layout as UUIDs, each with new random bits: `set` and `setId` to `bits`, `write` and `text` as text,
 * `fill` to an array of bytes. `set` and `write` take the halves of an id.
 *
 * @param addon - Writes texts, and many UUIDs at once. Without it, JavaScript does.
 * @throws RangeError `ERR_LAYOUT_INVALID` if the layout leaves too few random bits.
 */
export function uuidWriter(layout: Layout, version: UuidVersion, addon?: NativeUuids) {
  const bits = new UuidBits(layout, version)
  const { words } = bits
  const textOf = addon?.text ?? uuidText

  const set = (upper: number, lower: number): void => bits.set(upper, lower, pool, take(words))
  const write = (upper: number, lower: number): string => {
    set(upper, lower)
    return textOf(bits.word0, bits.word1, bits.word2, bits.word3)
  }
  const halved = <T>(id: bigint, use: (upper: number, lower: number) => T): T => {
    whole[0] = id
    return use(halves[high] as number, halves[low] as number)
  }
  const most = Math.floor(pool.length / words)
  const fill = (ids: BigUint64Array, uuids: Uint8Array): void => {
    for (let done = 0; done < ids.length; done += most) {
      const part = ids.subarray(done, done + most)
      const at = take(words * part.length)
      const random = pool.subarray(at, at + words * part.length)
      if (addon === undefined || ids.length < nativeFrom) bits.write(part, random, uuids.subarray(16 * done))
      else bits.writeByAddon(addon, part, random, uuids.subarray(16 * done))
    }
  }
  return { bits, set, write, fill, setId: (id: bigint) => halved(id, set), text: (id: bigint) => halved(id, write) }
}

/** Random words. A call of `crypto` for each UUID would take longer than all the rest; a call writes 65 536 bytes at most. */
const pool = /* @__PURE__ */ (() => new Int32Array(65_536 / 4))()
let taken = /* @__PURE__ */ (() => pool.length)()

/** Takes words of the pool, which no other UUID gets. Returns the index of the first. */
function take(count: number): number {
  if (taken > pool.length - count) {
    globalThis.crypto.getRandomValues(pool)
    taken = 0
  }
  taken += count
  return taken - count
}
