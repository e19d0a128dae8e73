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
  readonly #orderOf: ((id: bigint) => bigint) | undefined
  /** The last id of each node, the node that was met longest ago first. */
  readonly #lastOf = new Map<number, bigint>()
  /**
   * The first number of each answer with numbers of segments. These numbers do not ascend, because servers
   * behind one URL take segments in turn.
   */
  readonly #firsts = new Set<bigint>()

  constructor(layout: Layout | undefined) {
    this.#layout = layout
    this.#orderOf = layout && orderIn(layout)
  }

  /**
   * Remembers the ids of an answer.
   *
   * @param first, last - Of one answer, which was checked otherwise.
   * @returns Why the ids are not new; `undefined` if they are.
   */
  refuse(first: bigint, last: bigint): string | undefined {
    if (this.#layout === undefined || this.#orderOf === undefined) {
      if (this.#firsts.has(first)) return `its ids begin with ${first}, as an earlier answer did`
      this.#firsts.add(first)
      forgetFirst(this.#firsts)
      return undefined
    }
    const { node } = decode(first, this.#layout)
    const before = this.#lastOf.get(node)
    if (before !== undefined && this.#orderOf(first) <= this.#orderOf(before)) {
      return `its ids begin with ${first}, and node ${node} has given ids up to ${before} before`
    }
    // Last in the order of the map.
    this.#lastOf.delete(node)
    this.#lastOf.set(node, last)
    forgetFirst(this.#lastOf)
    return undefined
  }
}

/** Returns the number by which the ids of one node ascend, in the order in which they are made. */
export function orderIn({ timestamp, sequence }: Layout): (id: bigint) => bigint {
  if (timestamp.shift > sequence.shift) return (id) => id
  const part = (id: bigint, { shift, bits }: typeof timestamp) => BigInt.asUintN(bits, id >> BigInt(shift))
  return (id) => (part(id, timestamp) << BigInt(sequence.bits)) | part(id, sequence)
}

function forgetFirst(all: Map<number, bigint> | Set<bigint>): void {
  if (all.size <= maxRemembered) return
  const [first] = all.keys()
  all.delete(first as never)
}
