import { uuidText } from '../codec/uuid.js'
import { halves, high, low, whole } from '../core/typed-array.js'
import type { Layout } from '../layout/index.js'
import { UuidBits, type UuidVersion } from './bits.js'

/**
 * Returns functions that write ids of a layout as UUIDs, each with new random bits: `set` and `setId` to `bits`, `write` and `text` as text,
 * `fill` to memory. `set`, `write` and `fill` take the halves of ids.
 *
 * @throws RangeError `ERR_LAYOUT_INVALID` if the layout leaves too few random bits.
 */
export function uuidWriter(layout: Layout, version: UuidVersion) {
  const bits = new UuidBits(layout, version)
  const { words } = bits

  const set = (upper: number, lower: number): void => bits.set(upper, lower, pool, take(words))
  const write = (upper: number, lower: number): string => {
    set(upper, lower)
    return uuidText(bits.word0, bits.word1, bits.word2, bits.word3)
  }
  const halved = <T>(id: bigint, use: (upper: number, lower: number) => T): T => {
    whole[0] = id
    return use(halves[high] as number, halves[low] as number)
  }
  const most = Math.floor(pool.length / words)
  const fill = (ids: Uint32Array, buffer: ArrayBufferLike, at: number, count: number): void => {
    for (let done = 0; done < count; done += most) {
      const part = Math.min(most, count - done)
      bits.write(ids.subarray(2 * done), new DataView(buffer, at + 16 * done, 16 * part), pool, take(words * part))
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
