const prototype = Object.getPrototypeOf(Uint8Array.prototype)

/** Name of a typed array's kind, for arrays of all realms; `undefined` for anything else. To be called with the array as `this`. */
export const kindOf = getter<string | undefined>(Symbol.toStringTag)
/** How many elements a typed array has, which no subclass can override. To be called with the array as `this`. */
export const lengthGetter = getter<number>('length')
/** Copies elements to a place, which no subclass can override. To be called with the array as `this`. */
export const setElements: (this: unknown, elements: BigUint64Array, at: number) => void = prototype.set

function getter<T>(name: PropertyKey): (this: unknown) => T {
  return Object.getOwnPropertyDescriptor(prototype, name)?.get as (this: unknown) => T
}
