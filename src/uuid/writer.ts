import { uuidText } from '../codec/uuid.js'
import { halves, high, low, whole } from '../core/typed-array.js'
import type { Layout } from '../layout/index.js'
import type { NativeUuids } from '../numbers/addon.js'
import { UuidBits, type UuidVersion } from './bits.js'
import { pool, take } from './pool.js'

/**
 * Returns functions that write ids of a layout as UUIDs, each with new random bits: `set` and `setId` to
 * `bits`, `write` and `text` as text, `fill` to the front of an array of bytes. `set` and `write` take the
 * halves of an id.
 *
 * @param native - Writes texts, and many UUIDs at once. Without it, JavaScript does.
 * @throws RangeError `ERR_LAYOUT_INVALID` if the layout leaves too few random bits.
 */
export function uuidWriter(layout: Layout, version: UuidVersion, native?: NativeUuids) {
  const bits = new UuidBits(layout, version)
  const { words } = bits

  const set = (upper: number, lower: number): void => bits.set(upper, lower, pool, take(words))
  const write = (upper: number, lower: number): string => {
    set(upper, lower)
    const { word0, word1, word2, word3 } = bits
    return native?.text(word0, word1, word2, word3) ?? uuidText(word0, word1, word2, word3)
  }
  const halved = <T>(id: bigint, use: (upper: number, lower: number) => T): T => {
    whole[0] = id
    return use(halves[high] as number, halves[low] as number)
  }
  const perPool = Math.floor(pool.length / words)
  const fill = (ids: BigUint64Array, uuids: Uint8Array): void => {
    for (let done = 0; done < ids.length; done += perPool) {
      const part = ids.subarray(done, done + perPool)
      const at = take(words * part.length)
      bits.writeMany(part, pool.subarray(at, at + words * part.length), uuids.subarray(16 * done), native)
    }
  }
  return { bits, set, write, fill, setId: (id: bigint) => halved(id, set), text: (id: bigint) => halved(id, write) }
}
