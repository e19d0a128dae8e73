/** Index of the lower half of a 64-bit element, seen as two elements of 32 bits: 0 on little-endian machines. */
export const low = /* @__PURE__ */ (() => (new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1))()
export const high = low === 0 ? 1 : 0

/** A number of 64 bits, and its halves. Writing a bigint to `whole` and reading `halves` is faster than dividing the bigint. */
export const whole = new BigUint64Array(1)
export const halves = /* @__PURE__ */ (() => new Uint32Array(whole.buffer))()
export const two32 = 0x1_0000_0000

/** Hashes bytes to 32 bits by FNV-1a (draft-eastlake-fnv). Different bytes may have one hash. */
export function hash(bytes: Uint8Array): number {
  let value = 0x811c9dc5
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193)
  return value >>> 0
}
