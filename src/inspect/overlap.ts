import { decode, type Layout } from '../layout/index.js'

/** Memory grows by this many ids at once, so that no id is copied. */
const chunkIds = 2 ** 17

/** Ids of one source, in their order: 8 bytes each. With a layout, also their times and nodes. */
export class IdSet {
  readonly name: string
  readonly #layout: Layout | undefined
  readonly #chunks: BigUint64Array[] = []
  readonly #nodes = new Set<number>()
  count = 0
  firstMs = Number.POSITIVE_INFINITY
  lastMs = Number.NEGATIVE_INFINITY

  constructor(name: string, layout?: Layout) {
    this.name = name
    this.#layout = layout
  }

  /** @throws RangeError `ERR_ID_INVALID` for an id that is too wide for the layout */
  add(id: bigint): void {
    if (this.#layout !== undefined) {
      const { timestampMs, node } = decode(id, this.#layout)
      if (timestampMs < this.firstMs) this.firstMs = timestampMs
      if (timestampMs > this.lastMs) this.lastMs = timestampMs
      this.#nodes.add(node)
    }
    const at = this.count % chunkIds
    if (at === 0) this.#chunks.push(new BigUint64Array(chunkIds))
    ;(this.#chunks.at(-1) as BigUint64Array)[at] = id
    this.count++
  }

  /** In ascending order; empty without a layout. */
  get nodes(): number[] {
    return [...this.#nodes].sort((a, b) => a - b)
  }

  hasNode(node: number): boolean {
    return this.#nodes.has(node)
  }

  copyTo(all: BigUint64Array, from: number): void {
    this.#chunks.forEach((chunk, i) => {
      all.set(chunk.subarray(0, this.count - i * chunkIds), from + i * chunkIds)
    })
  }

  /** Returns the lines of an id, counted from 1; at most `limit`. */
  linesOf(id: bigint, limit: number): number[] {
    const lines: number[] = []
    for (const [i, chunk] of this.#chunks.entries()) {
      const used = chunk.subarray(0, this.count - i * chunkIds)
      for (let at = used.indexOf(id); at >= 0 && lines.length < limit; at = used.indexOf(id, at + 1)) {
        lines.push(i * chunkIds + at + 1)
      }
    }
    return lines
  }
}

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
    // In a row of equal ids, only the first two count.
    if (all[i] !== all[i - 1] || (i > 1 && all[i] === all[i - 2])) continue
    count++
    if (first.length < limit) first.push(all[i] as bigint)
  }
  return { count, first: first.map((id) => ({ id, places: placesOf(id, sets, limit) })) }
}

function placesOf(id: bigint, sets: readonly IdSet[], limit: number): EqualId['places'] {
  return sets.flatMap((set) => set.linesOf(id, limit).map((line) => ({ set: set.name, line })))
}

/** Finds the nodes that have ids in more than one set, in ascending order. */
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
