import type { LeaseRecord } from '../../../src/lease/record.js'

/** Something that must never happen. */
export interface Violation {
  readonly text: string
  readonly node: number | undefined
  /** The processes that it concerns. */
  readonly processes: readonly number[]
}

/** The ticks of a node that a holder may use, as it believes. */
export interface Rectangle {
  readonly process: number
  readonly node: number
  readonly floor: number
  ceiling: number
  /**
   * If the process was copied, and nothing tells it: ids below the ceiling of that moment may be issued
   * twice.
   */
  copied?: { readonly below: number }
}

/** A caller of ids, in one life of a process. */
export interface Caller {
  readonly process: number
  /** The last id, as a number that ascends with ids. */
  lastId: number
}

/** Sequence numbers of a tick. */
export const sequences = 2

const maxNodes = 16

/** Observes all events of a world, and notes the first violation. */
export class Judge {
  violation: Violation | undefined
  issued = 0
  acquired = 0
  /** Ids that were issued twice because of a copy, below the ceiling of the moment of the copy. */
  issuedByCopies = 0
  readonly #rectangles: Rectangle[][] = []
  readonly #slots: Map<number, Rectangle>[] = []
  readonly #landed = new Set<string>()
  /** Values that have not landed according to the answer, and how often the server had lost writes before. */
  readonly #refused = new Map<string, number>()
  readonly #onViolation: (violation: Violation) => void

  constructor(onViolation: (violation: Violation) => void) {
    this.#onViolation = onViolation
  }

  /** A process has a node. */
  holds(process: number, node: number, floor: number, ceiling: number): Rectangle {
    this.acquired++
    const own: Rectangle = { process, node, floor, ceiling }
    this.#onNode(node).push(own)
    this.#check(own)
    return own
  }

  /** A process is copied, and nothing tells it. */
  isCopied(original: Rectangle, process: number): Rectangle {
    original.copied = { below: original.ceiling }
    const copy = { ...original, process }
    this.#onNode(copy.node).push(copy)
    return copy
  }

  /** A ceiling has risen. */
  raised(own: Rectangle, ceiling: number): void {
    own.ceiling = Math.max(own.ceiling, ceiling)
    this.#check(own)
  }

  /** A process will use no tick of its rectangle from one on. */
  ended(own: Rectangle, nextTick: number): void {
    own.ceiling = Math.min(own.ceiling, nextTick)
  }

  issues(caller: Caller, own: Rectangle, slot: number): void {
    const { process, node } = own
    this.issued++
    this.#slots[node] ??= new Map()
    const slots = this.#slots[node]
    const tick = Math.floor(slot / sequences)
    const other = slots.get(slot)
    if (other !== undefined && tick < knownBelow(own, other)) this.issuedByCopies++
    else if (other !== undefined) {
      this.#violate(`node ${node}: an id of tick ${tick} is issued twice, by ${both(other.process, process)}`, node, [
        other.process,
        process,
      ])
    }
    slots.set(slot, own)
    const id = (tick * maxNodes + node) * sequences + (slot % sequences)
    if (id <= caller.lastId) {
      this.#violate(`process ${process}: an id of tick ${tick} of node ${node} is not above the one before`, node, [
        process,
      ])
    }
    caller.lastId = id
  }

  /** The server has applied a write; of a node's record, if a record is given. */
  applied(
    process: number,
    value: string,
    losses: number,
    node?: number,
    before?: LeaseRecord,
    after?: LeaseRecord,
  ): void {
    this.#landed.add(value)
    if (this.#refused.get(value) === losses) {
      this.#violate(`a write of process ${process} lands after it was told that it had not`, node, [process])
    }
    if (after === undefined) return
    if (after.ceiling < after.floor) {
      const text = `process ${process} writes the ceiling ${after.ceiling} below the floor ${after.floor}`
      this.#violate(text, node, [process])
    }
    const isSame = before?.token === after.token && before.floor === after.floor
    if (before !== undefined && !isSame && after.floor < before.ceiling) {
      const text = `process ${process} writes the floor ${after.floor} below the ceiling ${before.ceiling} before it`
      this.#violate(text, node, [process])
    }
  }

  /**
   * A process gets the outcome of its write. The server has lost nothing since the write began.
   *
   * @param isThere - Whether the record is the one of this write at the moment.
   */
  told(process: number, value: string, landed: boolean, isThere: boolean, losses: number): void {
    if (landed && !this.#landed.has(value)) {
      this.#violate(`process ${process} is told that a write has landed that has not`, undefined, [process])
    }
    if (!landed && isThere) {
      this.#violate(`process ${process} is told that a write has not landed that has`, undefined, [process])
    }
    if (!landed) this.#refused.set(value, losses)
  }

  /** A process is told that another has its node, by a server that has never lost anything. */
  toldLost({ process, node }: Rectangle, isItsOwn: boolean): void {
    if (isItsOwn)
      this.#violate(`node ${node}: process ${process} is told that it has lost what it has`, node, [process])
  }

  /** A process has no node when the world ends. */
  hasNoNode(process: number, afterMs: number): void {
    this.#violate(`process ${process} has no node ${afterMs / 1000} s after the faults have ended`, undefined, [
      process,
    ])
  }

  /** A process gets an error that is not allowed. */
  fails(process: number, error: unknown): void {
    this.#violate(`process ${process} fails: ${error instanceof Error ? error.stack : error}`, undefined, [process])
  }

  #onNode(node: number): Rectangle[] {
    this.#rectangles[node] ??= []
    return this.#rectangles[node]
  }

  #check(own: Rectangle): void {
    for (const other of this.#onNode(own.node)) {
      const from = Math.max(own.floor, other.floor, knownBelow(own, other))
      const to = Math.min(own.ceiling, other.ceiling)
      if (other === own || from >= to) continue
      this.#violate(
        `node ${own.node}: the ticks [${from}, ${to}) are ${both(other.process, own.process)}'s at once: the one has [${other.floor}, ${other.ceiling}), the other [${own.floor}, ${own.ceiling})`,
        own.node,
        [other.process, own.process],
      )
    }
  }

  #violate(text: string, node: number | undefined, processes: readonly number[]): void {
    if (this.violation !== undefined) return
    this.violation = { text, node, processes }
    this.#onViolation(this.violation)
  }
}

/**
 * The tick below which it is known that ids are issued twice, because one of the processes was copied, and
 * nothing told it.
 */
function knownBelow(one: Rectangle, other: Rectangle): number {
  return Math.max(one.copied?.below ?? 0, other.copied?.below ?? 0)
}

function both(one: number, other: number): string {
  return one === other ? `process ${one} before and process ${one} now` : `process ${one} and process ${other}`
}
