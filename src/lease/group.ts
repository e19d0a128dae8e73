import { type Layout, placeNode } from '../layout/index.js'
import type { NodeChoice } from './nodes.js'

/** Nodes whose records lie in one folder, so that one call lists them. */
export const shardNodes = 1024

/** Where the records of the groups are. */
export const groupsFolder = 'groups/'

/** What stands before the namespace, which is the end of `ids`. */
const namespaceMark = '; namespace '

/** What a group needs of a layout. */
export type GroupLayout = Pick<Layout, 'epochMs' | 'tickMs' | 'maxTick' | 'nodes'>

/** All processes that must not make equal ids: one namespace, the bits of one layout, one epoch. */
export class Group {
  /** Says which ids it is for. */
  readonly ids: string
  readonly layout: GroupLayout
  readonly nodes: NodeChoice
  readonly #name: string

  /** @param name - A part of keys; differs where `ids` does. */
  constructor(name: string, ids: string, layout: GroupLayout, nodes: NodeChoice) {
    this.ids = ids
    this.layout = layout
    this.nodes = nodes
    this.#name = name
  }

  /** The group of all processes with one namespace and the bits of one layout, whatever its name and its fields' names are. */
  static of(layout: Layout, namespace: string, nodes: NodeChoice): Group {
    const { epochMs, tickMs, timestamp, sequence } = layout
    const nodeMask = placeNode(layout, layout.nodes - 1).toString(16)
    const ids = `timestamp ${timestamp.bits} at ${timestamp.shift}, sequence ${sequence.bits} at ${sequence.shift}, node 0x${nodeMask}; epoch ${epochMs}, tick ${tickMs} ms${namespaceMark}${namespace}`
    const readable = namespace.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)
    return new Group(`${readable}-${hash(ids).toString(16).padStart(8, '0')}`, ids, layout, nodes)
  }

  get namespace(): string {
    return this.ids.slice(this.ids.indexOf(namespaceMark) + namespaceMark.length)
  }

  /** Where the group's own record is. */
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

  /** When a tick begins; milliseconds since 1970. */
  timeOf(tick: number): number {
    return this.layout.epochMs + tick * this.layout.tickMs
  }
}

/** FNV-1a, 32 bits (draft-eastlake-fnv). */
export function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193)
  return value >>> 0
}
