/** The properties that say where the elements of an array are. */
const said = ['buffer', 'byteOffset', 'length', 'byteLength'] as const

const elsewhere = {
  buffer: () => new ArrayBuffer(8 * 1024),
  byteOffset: () => 16,
  length: () => 1,
  byteLength: () => 8,
}

/**
 * Arrays that say of themselves that they are elsewhere, or of another length: each with its real elements.
 */
export function disguised(
  length: number,
): { how: string; array: BigUint64Array<ArrayBuffer>; elements: BigUint64Array }[] {
  return said.flatMap((name) =>
    ['its class', 'itself'].map((where) => {
      class Subclass extends BigUint64Array<ArrayBuffer> {}
      const buffer = new ArrayBuffer(8 * (length + 2))
      const array = new Subclass(buffer, 8, length)
      const owner = where === 'itself' ? array : Subclass.prototype
      Object.defineProperty(owner, name, { get: elsewhere[name], configurable: true })
      return { how: `${name} of ${where}`, array, elements: new BigUint64Array(buffer) }
    }),
  )
}
