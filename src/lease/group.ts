import { rangeError, show, typeError } from '../core/errors.js'
import { ownProperties } from '../core/options.js'
import { hash } from '../core/typed-array.js'
import { utf8 } from '../core/utf8.js'
import { combineNode, type Layout, shiftNode } from '../layout/index.js'
import { groupsFolder } from '../stores/record.js'

/** The nodes of a group that a process may have. */
export interface NodeSet {
  /** How many nodes there are. */
  readonly count: number
  /** The node at an index from 0 to below the count. The nodes ascend. */
  at(index: number): number
  has(node: number): boolean
}

/**
 * Returns the nodes of a layout that have some fields fixed, and lie in a range.
 *
 * @param fixed - A number for some of the node fields, or the node as a whole.
 * @param range - The first and the last node of the range.
 * @throws TypeError, RangeError `ERR_NODE_INVALID`; TypeError, RangeError `ERR_OPTION_INVALID` for a range
 * that is invalid or has no such node.
 */
export function chooseNodes(layout: Layout, fixed: unknown, range: unknown): NodeSet {
  const [first, last] = readRange(layout, range)
  const fields = fieldsOf(layout, readFixed(layout, fixed))
  const all = fields.reduce((count, { size, fixed }) => count * (fixed === undefined ? size : 1), 1)
  const nodeAt = (index: number) => {
    let [node, left] = [0, index]
    for (const { size, weight, fixed } of fields) {
      node += (fixed ?? left % size) * weight
      if (fixed === undefined) left = Math.floor(left / size)
    }
    return node
  }
  const from = indexOfFirst(all, (index) => nodeAt(index) >= first)
  const to = indexOfFirst(all, (index) => nodeAt(index) > last)
  if (from >= to) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `nodes is [${first}, ${last}], and none of these nodes has the fields that node fixes (${show(fixed)}); choose another range`,
    )
  }
  // Arithmetic alone, because each attempt to get a node calls this for all 1 024 nodes of a shard.
  const has = (node: number) =>
    node >= first &&
    node <= last &&
    fields.every(({ size, weight, fixed }) => fixed === undefined || Math.floor(node / weight) % size === fixed)
  return { count: to - from, at: (index) => nodeAt(from + index), has }
}

/** The node fields, the lowest bits first. A node is the sum of `weight` times value over all fields. */
function fieldsOf(layout: Layout, parts: ReadonlyMap<string, number>) {
  let next = 1
  return layout.nodeFields.toReversed().map(({ name, bits }) => {
    const [size, weight] = [2 ** bits, next]
    next *= size
    return { size, weight, fixed: parts.get(name) }
  })
}

/**
 * The first index below `count` for which a rule holds, by bisection; `count` if there is none. The rule
 * holds for all later indexes.
 */
function indexOfFirst(count: number, holds: (index: number) => boolean): number {
  let [from, to] = [0, count]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (holds(middle)) to = middle
    else from = middle + 1
  }
  return from
}

function readFixed(layout: Layout, fixed: unknown): Map<string, number> {
  if (fixed === undefined) return new Map()
  const zeros = Object.fromEntries(layout.nodeFields.map(({ name }) => [name, 0]))
  if (typeof fixed === 'object' && fixed !== null && !Array.isArray(fixed)) {
    const own = ownProperties(fixed, Object.keys(zeros), 'ERR_NODE_INVALID', 'the field')
    const given = Object.entries(own).filter(([, value]) => value !== undefined)
    combineNode(layout, { ...zeros, ...Object.fromEntries(given) })
    return new Map(given as [string, number][])
  }
  let node = combineNode(layout, fixed)
  const parts = new Map<string, number>()
  for (const { name, bits } of layout.nodeFields.toReversed()) {
    parts.set(name, node % 2 ** bits)
    node = Math.floor(node / 2 ** bits)
  }
  return parts
}

function readRange(layout: Layout, range: unknown): [number, number] {
  const last = layout.nodes - 1
  if (range === undefined) return [0, last]
  const rule = `pass [first, last], two whole numbers from 0 to ${last}, the smaller one first`
  if (!Array.isArray(range) || range.length !== 2 || range.some((node) => typeof node !== 'number')) {
    throw typeError('ERR_OPTION_INVALID', `nodes is ${show(range)}; ${rule}`)
  }
  const isFine = range.every((node) => Number.isInteger(node) && node >= 0 && node <= last) && range[0] <= range[1]
  if (!isFine) throw rangeError('ERR_OPTION_INVALID', `nodes is [${range.join(', ')}]; ${rule}`)
  return range as [number, number]
}

/** How many nodes have their records in one folder. One call lists a folder. */
export const shardNodes = 1024

/** The name of the record of a server's life in the folder of a shard. */
export const lifeName = 'life'

/** The text before the namespace in `ids`, which ends with the namespace. */
const namespaceMark = '; namespace '

/** The part of a layout that a group uses. */
export type GroupLayout = Pick<Layout, 'epochMs' | 'tickMs' | 'maxTick' | 'nodes'>

/**
 * All processes that must not make equal ids: one namespace, the bits of one layout, one epoch, one `tickMs`.
 */
export class Group {
  /** Describes the ids of the group. */
  readonly ids: string
  readonly layout: GroupLayout
  readonly nodes: NodeSet
  readonly #name: string

  /** @param name - A part of keys. Groups with different `ids` have different names. */
  constructor(name: string, ids: string, layout: GroupLayout, nodes: NodeSet) {
    this.ids = ids
    this.layout = layout
    this.nodes = nodes
    this.#name = name
  }

  /**
   * The group of all processes with one namespace and the bits of one layout. The names of the layout and its
   * fields do not count.
   */
  static of(layout: Layout, namespace: string, nodes: NodeSet): Group {
    const { epochMs, tickMs, timestamp, sequence } = layout
    const nodeMask = shiftNode(layout, layout.nodes - 1).toString(16)
    const ids = `timestamp ${timestamp.bits} at ${timestamp.shift}, sequence ${sequence.bits} at ${sequence.shift}, node 0x${nodeMask}; epoch ${epochMs}, tick ${tickMs} ms${namespaceMark}${namespace}`
    const readable = namespace.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, 40)
    return new Group(`${readable}-${hash(utf8(ids)).toString(16).padStart(8, '0')}`, ids, layout, nodes)
  }

  get namespace(): string {
    return this.ids.slice(this.ids.indexOf(namespaceMark) + namespaceMark.length)
  }

  /** The key of the group's own record. */
  get key(): string {
    return groupsFolder + this.#name
  }

  keyOf(node: number): string {
    return `${this.folderOf(this.shardOf(node))}${node}`
  }

  shardOf(node: number): number {
    return Math.floor(node / shardNodes)
  }

  /** The shard of the node at an index, or the next that is not among some; `undefined` if all are. */
  shardFrom(index: number, without: ReadonlySet<number>): number | undefined {
    const { at, count } = this.nodes
    for (let looks = 0; looks <= without.size; looks++) {
      const shard = this.shardOf(at(index))
      if (!without.has(shard)) return shard
      index = indexOfFirst(count, (other) => this.shardOf(at(other)) > shard) % count
    }
    return undefined
  }

  folderOf(shard: number): string {
    return `leases/${this.#name}/${shard}/`
  }

  /**
   * The key of the record of a server's life. It is beside the records of a shard's nodes, so a server loses
   * or has them together.
   */
  lifeKeyOf(shard: number): string {
    return this.folderOf(shard) + lifeName
  }

  /** The nodes of a shard that the process may have. */
  nodesOf(shard: number): number[] {
    const nodes = []
    const end = Math.min((shard + 1) * shardNodes, this.layout.nodes)
    for (let node = shard * shardNodes; node < end; node++) {
      if (this.nodes.has(node)) nodes.push(node)
    }
    return nodes
  }

  /** The tick that a clock shows. */
  tickAt(ms: number): number {
    const { epochMs, tickMs, maxTick } = this.layout
    return Math.max(0, Math.min(maxTick + 1, Math.floor((ms - epochMs) / tickMs)))
  }

  /** The time at which a tick begins; milliseconds since 1970. */
  timeOf(tick: number): number {
    return this.layout.epochMs + tick * this.layout.tickMs
  }
}
