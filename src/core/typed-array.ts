// A subclass, or a property of an array itself, can hide `length`, `buffer` and `byteOffset` behind other
// values. The getters of the language, taken when this module is loaded, say where the elements are. Call
// them with the array as `this`.

/** Returns the name of a typed array's kind, for arrays of all realms; `undefined` for any other value. */
export const kindOf = /* @__PURE__ */ (() => getter<string | undefined>(Symbol.toStringTag))()
/** Returns the number of elements of a typed array. */
export const lengthGetter = /* @__PURE__ */ (() => getter<number>('length'))()
/** Returns the memory of a typed array. */
export const bufferGetter = /* @__PURE__ */ (() => getter<ArrayBufferLike>('buffer'))()
/** Returns the position of a typed array's first byte in its memory. */
export const byteOffsetGetter = /* @__PURE__ */ (() => getter<number>('byteOffset'))()
/** Copies elements to a position of a typed array. */
export const setElements: (this: unknown, elements: BigUint64Array, at: number) => void = /* @__PURE__ */ (() =>
  typedArrays().set)()

/**
 * Whether a value is a Uint8Array of any realm: test runners have a Uint8Array of their own in each test
 * file.
 */
export function isBytes(value: unknown): value is Uint8Array {
  return kindOf.call(value) === 'Uint8Array'
}

function getter<T>(name: PropertyKey): (this: unknown) => T {
  return Object.getOwnPropertyDescriptor(typedArrays(), name)?.get as (this: unknown) => T
}

/** The prototype that all kinds of typed arrays inherit from. */
function typedArrays() {
  return Object.getPrototypeOf(Uint8Array.prototype)
}

/**
 * Index of the lower half of a 64-bit element, seen as two elements of 32 bits: 0 on little-endian machines.
 */
export const low = /* @__PURE__ */ (() => (new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1))()
export const high = low === 0 ? 1 : 0

/**
 * A number of 64 bits, and its halves. Writing a bigint to `whole` and reading `halves` is faster than
 * dividing the bigint.
 */
export const whole = new BigUint64Array(1)
export const halves = /* @__PURE__ */ (() => new Uint32Array(whole.buffer))()
export const two32 = 0x1_0000_0000

/** Hashes bytes to 32 bits by FNV-1a (draft-eastlake-fnv). Different bytes may have one hash. */
export function hash(bytes: Uint8Array): number {
  let value = 0x811c9dc5
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193)
  return value >>> 0
}
