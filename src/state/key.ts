import { show } from '../core/errors.js'
import { utf8 } from '../core/utf8.js'
import { decode, defineLayout, type Field, fieldsText, type Layout, shiftNode } from '../layout/index.js'

// The key of a state tells which ids the state counts, and its description names their layout. Pages, claims
// and state files have both texts, and a page's name is the hash of its key, so the texts are a part of the
// format in docs/state-format.md. Only this module writes and reads them.

/**
 * The ids that a state is for; `Identity` of `native/host/fault.h`. Claims, pages and state files carry it.
 */
export interface Identity {
  /** Equal keys have one state. */
  readonly key: string
  /** The layout with its names ({@link describeLayout}); JSON. */
  readonly description: string
}

/** The clock of a state: the system's clock, or a `clock` function. Each clock has states of its own. */
export type KeyClock = 'real' | 'injected'

/** The parts of a key. */
export interface Key {
  /** `undefined` in the key of a state file, whose ids are the same by either clock. */
  readonly clock: KeyClock | undefined
  /** Epoch, tick, and the placements of timestamp and sequence. */
  readonly geometry: string
  /** The node's fields, shifted as in an id. */
  readonly nodeBits: bigint
  readonly namespace: string
}

/** Clock, geometry (six numbers), bits of the node, namespace. */
const pattern = /^(?:(real|injected) )?(-?\d+(?: \d+){5}) (\d+) (.+)$/s

/**
 * Makes the key of a state. It has the bits of the layout, not its name, because ids of two layouts with
 * equal bits must differ, too.
 *
 * @param clock - `undefined` for the key of a state file.
 */
export function makeKey(layout: Layout, node: number, namespace: string, clock?: KeyClock): string {
  // Joined, because a template would keep its pieces in memory as long as the key.
  const words = [...geometryOf(layout), shiftNode(layout, node), namespace]
  return (clock === undefined ? words : [clock, ...words]).join(' ')
}

/** Reads a key; `undefined` for a text that is no key. */
export function parseKey(text: string): Key | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, clock, geometry, nodeBits, namespace] = match as unknown as [string, KeyClock?, ...string[]]
  return { clock, geometry: geometry as string, nodeBits: BigInt(nodeBits as string), namespace: namespace as string }
}

/** The key of the state file that belongs to a page of this key. */
export function fileKeyOf(pageKey: string): string {
  return pageKey.slice(pageKey.indexOf(' ') + 1)
}

/** Whether a layout has the geometry of a key. */
export function hasGeometry({ geometry }: Key, layout: Layout): boolean {
  return geometry === geometryOf(layout).join(' ')
}

function geometryOf({ epochMs, tickMs, timestamp, sequence }: Layout): (number | bigint | string)[] {
  return [epochMs, tickMs, timestamp.bits, timestamp.shift, sequence.bits, sequence.shift]
}

/**
 * The longest description in bytes of UTF-8. A page has room for it and the longest key
 * (`native/host/header.h`). Longer names are not kept.
 */
const maxDescription = 2048
const descriptions = new WeakMap<Layout, string>()

/** Describes a layout with its names, as JSON. All generators of the layout share the text. */
export function describeLayout(layout: Layout): string {
  let description = descriptions.get(layout)
  if (description === undefined) {
    const { name, epochMs, tickMs, fields, unsigned } = layout
    description = JSON.stringify({ name, epochMs, tickMs, fields, unsigned })
    if (utf8(description).length > maxDescription) {
      const isOwn = (field: string) => field === 'timestamp' || field === 'sequence'
      const short = fields.map(([field, ...rest], i) => [isOwn(field) ? field : `field${i}`, ...rest])
      description = JSON.stringify({ name: '', epochMs, tickMs, fields: short, unsigned })
    }
    descriptions.set(layout, description)
  }
  return description
}

/**
 * Reads a text of {@link describeLayout}; `undefined` for any other text. The name is `''` if it was not
 * kept.
 */
export function parseDescription(text: string): { readonly name: string; readonly layout: Layout } | undefined {
  try {
    const { name, ...rest } = JSON.parse(text)
    if (typeof name !== 'string') return undefined
    return { name, layout: defineLayout<readonly Field[]>({ ...rest, name: name || 'unnamed' }) }
  } catch {
    return undefined
  }
}

/** Reads the name of the layout in a text of {@link describeLayout}. */
export function layoutNameIn(description: string): string {
  return (JSON.parse(description) as { name: string }).name
}

/** Names the ids of a state by layout, namespace and node; `undefined` if the texts are forged. */
export function nameOfIds(key: string, description: string) {
  const read = readIds(key, description)
  return read && { layout: read.name, namespace: read.namespace, node: read.node }
}

/** Names the ids of a state, for messages. */
export function idsText(key: string, description: string): string {
  const read = readIds(key, description)
  if (read === undefined) return 'unknown ids'
  const { name, layout, node, namespace } = read
  return `layout ${show(name)} (${fieldsText(layout)}; epoch ${layout.epochMs}, tick ${layout.tickMs} ms), node ${node}, namespace ${show(namespace)}`
}

function readIds(key: string, description: string) {
  const parsed = parseKey(key)
  const described = parseDescription(description)
  if (parsed === undefined || described === undefined || !hasGeometry(parsed, described.layout)) return undefined
  const { nodeBits, namespace } = parsed
  if (nodeBits >> BigInt(described.layout.bits) !== 0n) return undefined
  return { ...described, namespace, node: decode(nodeBits, described.layout).node }
}
