import { decode, type Layout } from '../layout/index.js'

/** Memory grows by so many ids at once, so that none has to be copied. */
const chunkIds = 2 ** 17

/** Ids of one source, in their order: 8 bytes each. With a layout, also when they were made, and on which nodes. */
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
