/** The method that `util.inspect` and `console.log` call. By its name, because browsers have no `node:util`. */
export const inspectWith = Symbol.for('nodejs.util.inspect.custom')

/** Iterates over the ids of a generator, which have no end. */
export function endless(ids: { next(): bigint }): IterableIterator<bigint> {
  const iterator = {
    next: () => ({ done: false as const, value: ids.next() }),
    [Symbol.iterator]: () => iterator,
  }
  return iterator
}
