const prototype = Object.getPrototypeOf(Uint8Array.prototype)

// A subclass, or a property of the array itself, can hide `length`, `buffer` and `byteOffset` behind other values. These
// getters are taken when the module is loaded, and tell where the elements really are.

/** Name of a typed array's kind, for arrays of all realms; `undefined` for anything else. To be called with the array as `this`. */
export const kindOf = getter<string | undefined>(Symbol.toStringTag)
/** How many elements a typed array has. To be called with the array as `this`. */
export const lengthGetter = getter<number>('length')
/** The memory that a typed array is over. To be called with the array as `this`. */
export const bufferGetter = getter<ArrayBufferLike>('buffer')
/** The first byte of a typed array in its memory. To be called with the array as `this`. Pure: the client's bundle leaves it out. */
export const byteOffsetGetter = /* @__PURE__ */ getter<number>('byteOffset')
/** Copies elements to a place. To be called with the array as `this`. */
export const setElements: (this: unknown, elements: BigUint64Array, at: number) => void = prototype.set

/** Whether a value is a Uint8Array. Of any realm: test runners have a Uint8Array of their own in each test file. */
export function isBytes(value: unknown): value is Uint8Array {
  return kindOf.call(value) === 'Uint8Array'
}

function getter<T>(name: PropertyKey): (this: unknown) => T {
  return Object.getOwnPropertyDescriptor(prototype, name)?.get as (this: unknown) => T
}
