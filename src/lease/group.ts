import { hash } from '../core/halves.js'
import { type Layout, placeNode } from '../layout/index.js'
import type { NodeSet } from './nodes.js'

/** How many nodes have their records in one folder. One call lists a folder. */
export const shardNodes = 1024

/** The folder of the groups' records. */
export const groupsFolder = 'groups/'

/** The text before the namespace in `ids`, which ends with the namespace. */
const namespaceMark = '; namespace '

/** The part of a layout that a group uses. */
export type GroupLayout = Pick<Layout, 'epochMs' | 'tickMs' | 'maxTick' | 'nodes'>

/** All processes that must not make equal ids: one namespace, the bits of one layout, one epoch. */
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

  /** The group of all processes with one namespace and the bits of one layout. The names of the layout and its fields do not count. */
  static of(layout: Layout, namespace: string, nodes: NodeSet): Group {
    const { epochMs, tickMs, timestamp, sequence } = layout
    const nodeMask = placeNode(layout, layout.nodes - 1).toString(16)
    const ids = `timestamp ${timestamp.bits} at ${timestamp.shift}, sequence ${sequence.bits} at ${sequence.shift}, node 0x${nodeMask}; epoch ${epochMs}, tick ${tickMs} ms${namespaceMark}${namespace}`
    const readable = namespace.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)
    return new Group(
      `${readable}-${hash(new TextEncoder().encode(ids)).toString(16).padStart(8, '0')}`,
      ids,
      layout,
      nodes,
    )
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

  folderOf(shard: number): string {
    return `leases/${this.#name}/${shard}/`
  }

  /** The nodes of a shard that the process may have. */
  nodesOf(shard: number): number[] {
    const nodes = []
    for (let node = shard * shardNodes; node < (shard + 1) * shardNodes; node++) {
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
