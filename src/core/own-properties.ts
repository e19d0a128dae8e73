import { type ErrorCode, typeError } from './errors.js'

/**
 * Copies the own enumerable properties of an object that a caller has given, to an object without a prototype. What other code
 * has added to `Object.prototype` is then not read as if the caller had given it. A property that the object inherits from
 * another object or from its class is refused, because the caller means it, and it would be lost.
 *
 * @param names - The properties that are read of the copy.
 * @param what - What such a property is, for the message: `the option`.
 * @throws TypeError with the code, for one of the names that is inherited or not enumerable.
 */
export function ownProperties<T extends object>(given: T, names: readonly string[], code: ErrorCode, what: string): T {
  const own = Object.assign(Object.create(null), given)
  for (let holder: object | null = given; holder !== null && !isRoot(holder); holder = Object.getPrototypeOf(holder)) {
    for (const name of Object.getOwnPropertyNames(holder)) {
      if (name in own || !names.includes(name)) continue
      throw typeError(
        code,
        `${what} '${name}' is inherited or not enumerable, and would not be read; pass an object that has it itself`,
        name,
      )
    }
  }
  return own
}

/** Whether it is the `Object.prototype` of a realm. The caller has not chosen to inherit from that. */
function isRoot(holder: object): boolean {
  return Object.getPrototypeOf(holder) === null && Object.hasOwn(holder, 'isPrototypeOf')
}
