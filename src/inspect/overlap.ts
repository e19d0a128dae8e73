import type { IdSet } from './id-set.js'

/** An id that occurs more than once, and where: the line in each set, counted from 1. */
interface EqualId {
  readonly id: bigint
  readonly places: readonly { readonly set: string; readonly line: number }[]
}

/** @param count - How many different ids occur more than once. @param first - The lowest of them. */
export interface EqualIds {
  readonly count: number
  readonly first: readonly EqualId[]
}

/** A node that made ids of several sets. */
export interface CommonNode {
  readonly node: number
  readonly sets: readonly string[]
}

/** Finds the ids that occur more than once, in one set or in several. It needs 8 more bytes for each id. */
export function equalIds(sets: readonly IdSet[], limit: number): EqualIds {
  const all = new BigUint64Array(sets.reduce((sum, { count }) => sum + count, 0))
  let from = 0
  for (const set of sets) {
    set.copyTo(all, from)
    from += set.count
  }
  all.sort()
  let count = 0
  const first: bigint[] = []
  for (let i = 1; i < all.length; i++) {
    // The first two of a row of equal ids count, and not its others.
    if (all[i] !== all[i - 1] || (i > 1 && all[i] === all[i - 2])) continue
    count++
    if (first.length < limit) first.push(all[i] as bigint)
  }
  return { count, first: first.map((id) => ({ id, places: placesOf(id, sets, limit) })) }
}

function placesOf(id: bigint, sets: readonly IdSet[], limit: number): EqualId['places'] {
  return sets.flatMap((set) => set.linesOf(id, limit).map((line) => ({ set: set.name, line })))
}

/** Finds the nodes of which ids are in more than one set, in ascending order. */
export function commonNodes(sets: readonly IdSet[]): CommonNode[] {
  const nodes = new Set(sets.flatMap((set) => set.nodes))
  return [...nodes]
    .map((node) => ({ node, sets: sets.filter((set) => set.hasNode(node)).map(({ name }) => name) }))
    .filter((common) => common.sets.length > 1)
    .sort((a, b) => a.node - b.node)
}

/** Numbers in ascending order as ranges, both ends included. */
export function rangesOf(numbers: readonly number[]): [first: number, last: number][] {
  const ranges: [number, number][] = []
  for (const number of numbers) {
    const range = ranges.at(-1)
    if (range !== undefined && number === range[1] + 1) range[1] = number
    else ranges.push([number, number])
  }
  return ranges
}
