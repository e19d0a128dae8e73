import { decode, type Layout } from '../layout/index.js'

/** The most nodes, or answers, that are remembered. */
const maxRemembered = 1024

/**
 * Recognizes an answer whose ids were received before: a proxy has kept it, or a node of the service makes
 * ids a second time.
 *
 * Ids of one node ascend from answer to answer, because a client has one request at a time.
 */
export class Replays {
  readonly #layout: Layout | undefined
  /** The last id of each node, the node that was met longest ago first. */
  readonly #lastOf = new Map<number, bigint>()
  /**
   * The first number of each answer with numbers of segments. These numbers do not ascend, because servers
   * behind one URL take segments in turn.
   */
  readonly #firsts = new Set<bigint>()

  constructor(layout: Layout | undefined) {
    this.#layout = layout
  }

  /**
   * Remembers the ids of an answer.
   *
   * @param first, last - Of one answer, which was checked otherwise.
   * @returns Why the ids are not new; `undefined` if they are.
   */
  refuse(first: bigint, last: bigint): string | undefined {
    if (this.#layout === undefined || !isAscendingByTime(this.#layout)) {
      if (this.#firsts.has(first)) return `its ids begin with ${first}, as an earlier answer did`
      this.#firsts.add(first)
      forgetFirst(this.#firsts)
      return undefined
    }
    const { node } = decode(first, this.#layout)
    const nodeOfLast = decode(last, this.#layout).node
    if (node !== nodeOfLast) return `its ids are of two nodes, ${node} and ${nodeOfLast}`
    const before = this.#lastOf.get(node)
    if (before !== undefined && first <= before) {
      return `its ids begin with ${first}, and node ${node} has given ids up to ${before} before`
    }
    // Last in the order of the map.
    this.#lastOf.delete(node)
    this.#lastOf.set(node, last)
    forgetFirst(this.#lastOf)
    return undefined
  }
}

/** Returns whether later ids of a node are larger. */
export function isAscendingByTime({ timestamp, sequence }: Layout): boolean {
  return timestamp.shift > sequence.shift
}

function forgetFirst(all: Map<number, bigint> | Set<bigint>): void {
  if (all.size <= maxRemembered) return
  const [first] = all.keys()
  all.delete(first as never)
}
