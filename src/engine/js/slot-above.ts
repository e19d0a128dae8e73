import type { IdGeometry } from './id-writer.js'

/**
 * Finds the least slot whose id is larger than `id`, an id of any node of the layout; `undefined` if there is
 * none. `native/core/observed.h` in TypeScript, and docs/order-proof.md has the argument.
 */
export function slotAbove(geometry: IdGeometry, id: bigint): bigint | undefined {
  const shift = BigInt(geometry.sequenceShift)
  const bits = BigInt(geometry.sequenceBits)
  const tick = id >> BigInt(geometry.timestampShift)
  const sequence = BigInt.asUintN(geometry.sequenceBits, id >> shift)
  const first = (tick << BigInt(geometry.timestampShift)) | geometry.nodeBits
  const same = first | (sequence << shift)
  const slot = tick << bits
  if (tick > geometry.maxTick) return undefined
  if (first > id) return slot
  if (same > id) return slot + sequence
  if (sequence + 1n < 1n << bits && same + (1n << shift) > id) return slot + sequence + 1n
  return tick < geometry.maxTick ? (tick + 1n) << bits : undefined
}
