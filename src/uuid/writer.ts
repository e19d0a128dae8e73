import { uuidText } from '../codec/uuid.js'
import { halves, high, low, whole } from '../core/typed-array.js'
import type { Layout } from '../layout/index.js'
import { UuidBits, type UuidVersion } from './bits.js'

/**
 * Returns functions that write ids of a layout as UUIDs, each with new random bits: `set` and `setId` to `bits`, `write` and `text` as text.
 * `set` and `write` take the halves of an id.
 *
 * @throws RangeError `ERR_LAYOUT_INVALID` if the layout leaves too few random bits.
 */
export function uuidWriter(layout: Layout, version: UuidVersion) {
  const bits = new UuidBits(layout, version)
  const { words } = bits

  const set = (upper: number, lower: number): void => {
    if (taken > pool.length - words) refill()
    bits.set(upper, lower, pool, taken)
    taken += words
  }
  const write = (upper: number, lower: number): string => {
    set(upper, lower)
    return uuidText(bits.word0, bits.word1, bits.word2, bits.word3)
  }
  const halved = <T>(id: bigint, use: (upper: number, lower: number) => T): T => {
    whole[0] = id
    return use(halves[high] as number, halves[low] as number)
  }
  return { bits, set, write, setId: (id: bigint) => halved(id, set), text: (id: bigint) => halved(id, write) }
}

const pool = /* @__PURE__ */ (() => new Int32Array(4096))()
let taken = /* @__PURE__ */ (() => pool.length)()

/** Replaces the random words: a call of `crypto` for each UUID would take longer than all the rest. */
function refill(): void {
  globalThis.crypto.getRandomValues(pool)
  taken = 0
}
