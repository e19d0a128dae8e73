import { createCounter, createSegmentGenerator, type LeafAllocStore } from 'graupel/segments'
import { memoryStore } from 'graupel/stores'
import { entryOf, refusedAt, StartError } from '../failure.js'
import type { Options } from './table.js'

/** Options that the service sets itself. */
const own = ['store', 'name', 'signal', 'handle']

/**
 * Checks the names and options of segments and counters by making each in memory. So a mistake ends the
 * start, instead of failing the first request.
 *
 * @throws StartError
 */
export async function checkNumbers({ segments = {}, counters = {}, leafAlloc }: Options): Promise<void> {
  const store = leafAlloc === true ? memoryLeaf() : memoryStore({ assumeOneProcess: true })
  for (const [name, options] of Object.entries(segments)) {
    await check('segments', name, options, () => createSegmentGenerator({ ...options, store, name }))
  }
  for (const [name, options] of Object.entries(counters)) {
    await check('counters', name, options, () => createCounter({ ...options, store: memoryStore(), name }))
  }
}

async function check(
  kind: string,
  name: string,
  options: object,
  make: () => Promise<{ close(): void }>,
): Promise<void> {
  const entry = entryOf(kind, name)
  const taken = own.find((key) => Object.hasOwn(options, key))
  if (taken !== undefined) {
    throw new StartError('ERR_OPTION_INVALID', `${entry} has ${taken}, which the service sets itself; leave it out`)
  }
  try {
    const made = await make()
    made.close()
  } catch (error) {
    throw refusedAt(entry, error)
  }
}

/**
 * Returns a table of Leaf in memory. The options for such a table are checked differently from the options
 * for a store.
 */
function memoryLeaf(): LeafAllocStore {
  return { name: 'leaf_alloc', takeSegment: async (_tag, count = 1) => ({ first: 1n, count }) }
}
