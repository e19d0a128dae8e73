import {
  composeId,
  createGenerator,
  decode,
  type Field,
  type GivenTags,
  type IdGenerator,
  type Layout,
  type NodeOf,
} from 'graupel'

/** A generator of a layout that may have tags. */
type TaggedGenerator = { with(tags: GivenTags): IdGenerator }

/** Number of ids that are made between two reports of progress. */
const chunkIds = 4096

/** The ticks in which the page has made ids with equal bits of the node, whatever their tags are. */
interface Ticks {
  /** Number of used sequence numbers in each tick of a typed time. */
  readonly typed: Map<number, number>
  /** First and last tick of each batch by the clock. */
  readonly ofClock: [first: number, last: number][]
}

/**
 * Makes ids on one node of one layout, by typed times and by the clock. No id is made twice: if the tick of a
 * typed time is used up, its ids go on in later ticks, and ids of the clock that exist already are left out.
 */
class Node {
  readonly #layout: Layout
  readonly #node: number
  readonly #ticks: Ticks

  constructor(layout: Layout, node: number, ticks: Ticks) {
    this.#layout = layout
    this.#node = node
    this.#ticks = ticks
  }

  /**
   * Makes ids from a time on. @throws RangeError if the layout cannot hold the time, or its last tick is used
   * up
   */
  *from(ms: number, ids: BigUint64Array, tags: GivenTags = {}): Generator<number, void> {
    const { epochMs, tickMs, sequence } = this.#layout
    const { typed } = this.#ticks
    const perTick = 2 ** sequence.bits
    let tick = Math.floor((ms - epochMs) / tickMs)
    for (let i = 0; i < ids.length; ) {
      const used = this.#isOfClock(tick) ? perTick : (typed.get(tick) ?? 0)
      if (used >= perTick) {
        tick++
        continue
      }
      const timestampMs = epochMs + tick * tickMs
      ids[i++] = composeId({ timestampMs, node: this.#node, tags, sequence: used }, this.#layout)
      typed.set(tick, used + 1)
      if ((i & 255) === 0) yield i / ids.length
    }
  }

  /** Makes ids by the clock. @throws the errors of a generator */
  async byClock(
    ids: BigUint64Array,
    onProgress: (done: number) => void,
    signal: AbortSignal,
    tags: GivenTags = {},
  ): Promise<void> {
    const { epochMs, tickMs, timestamp } = this.#layout
    const tickOf = (id: bigint) => Number((id >> BigInt(timestamp.shift)) & ((1n << BigInt(timestamp.bits)) - 1n))
    const generator = createGenerator({ layout: this.#layout, node: this.#node, state: 'process' })
    const view = (generator as unknown as TaggedGenerator).with(tags)
    const span: [number, number] = [Math.floor((Date.now() - epochMs) / tickMs), 0]
    this.#ticks.ofClock.push(span)
    try {
      for (let made = 0; made < ids.length; ) {
        const part = await view.fillAsync(new BigUint64Array(Math.min(chunkIds, ids.length - made)))
        const fresh = part.filter((id) => !this.#ticks.typed.has(tickOf(id)))
        span[0] = Math.min(span[0], tickOf(part[0] as bigint))
        span[1] = tickOf(part.at(-1) as bigint)
        ids.set(fresh, made)
        made += fresh.length
        onProgress(made / ids.length)
        signal.throwIfAborted()
      }
    } finally {
      generator.close()
    }
  }

  #isOfClock(tick: number): boolean {
    return this.#ticks.ofClock.some(([first, last]) => first <= tick && tick <= last)
  }
}

const known = new Map<string, Ticks>()

/**
 * Returns a node of a layout. Layouts that differ only in their names or tags share the ticks of a node.
 *
 * @throws TypeError, RangeError `ERR_NODE_INVALID`
 */
export function nodeOf(layout: Layout, node: NodeOf<readonly Field[]>): Node {
  // Checks the node, and shows the bits that it sets.
  const tags = Object.fromEntries(layout.tagFields.map(({ name }) => [name, 0]))
  const bits = composeId({ timestampMs: layout.epochMs, node, tags, sequence: 0 }, layout)
  const { epochMs, tickMs, timestamp, sequence } = layout
  const key = [epochMs, tickMs, timestamp.bits, timestamp.shift, sequence.bits, sequence.shift, bits].join()
  const ticks = known.get(key) ?? { typed: new Map(), ofClock: [] }
  known.set(key, ticks)
  return new Node(layout, decode(bits, layout).node, ticks)
}
