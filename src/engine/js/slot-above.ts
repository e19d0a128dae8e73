import type { CoreSpec } from '../../state/engine.js'

type Places = Pick<CoreSpec, 'timestampShift' | 'sequenceShift' | 'sequenceBits' | 'nodeBits' | 'maxTick'>

/**
 * Finds the least slot whose id is larger than `id`, an id of any node of the layout; `undefined` if there is
 * none. `native/core/observed.h` in TypeScript, and docs/order.md has the argument.
 */
export function slotAbove(places: Places, id: bigint): bigint | undefined {
  const shift = BigInt(places.sequenceShift)
  const bits = BigInt(places.sequenceBits)
  const tick = id >> BigInt(places.timestampShift)
  const sequence = BigInt.asUintN(places.sequenceBits, id >> shift)
  const first = (tick << BigInt(places.timestampShift)) | places.nodeBits
  const same = first | (sequence << shift)
  const slot = tick << bits
  if (tick > places.maxTick) return undefined
  if (first > id) return slot
  if (same > id) return slot + sequence
  if (sequence + 1n < 1n << bits && same + (1n << shift) > id) return slot + sequence + 1n
  return tick < places.maxTick ? (tick + 1n) << bits : undefined
}
