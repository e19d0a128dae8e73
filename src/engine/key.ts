import { show } from '../core/errors.js'
import { decode, defineLayout, type Field, fieldsText, type Layout, placeNode } from '../layout/index.js'

// The key of a state says which ids the state counts, and the description beside it names their layout. Both stand in pages,
// claims and state files, and a page's name is the hash of its key, so their text is a part of the format: docs/state-format.md
// describes it, and this module alone writes and reads it.

/** The ids that a state is for; `Identity` of `native/host/header.h`. Claims, pages and state files carry it. */
export interface Identity {
  /** Equal keys have one state. */
  readonly key: string
  /** The layout with its names ({@link describeLayout}); JSON. */
  readonly description: string
}

/** Which clock the ids are made by: the system's, or a `clock` function. Each has states of its own. */
export type KeyClock = 'real' | 'injected'

/** What a key says. */
export interface Key {
  /** `undefined` in the key of a state file, whose ids are the same by either clock. */
  readonly clock: KeyClock | undefined
  /** Epoch, tick, and the places of timestamp and sequence. */
  readonly geometry: string
  /** The node's fields at their places in an id. */
  readonly nodeBits: bigint
  readonly namespace: string
}

/** Clock, geometry (six numbers), bits of the node, namespace. */
const pattern = /^(?:(real|injected) )?(-?\d+(?: \d+){5}) (\d+) (.+)$/s

/**
 * By the bits of the layout and not by its name: what two layouts with equal bits make must not be equal either.
 *
 * @param clock - Left out in the key of a state file.
 */
export function makeKey(layout: Layout, node: number, namespace: string, clock?: KeyClock): string {
  // Joined and not put together by a template, which would keep its pieces in memory for as long as the key lives.
  const words = [...geometryOf(layout), placeNode(layout, node), namespace]
  return (clock === undefined ? words : [clock, ...words]).join(' ')
}

/** @returns `undefined` for a text that is no key. */
export function parseKey(text: string): Key | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, clock, geometry, nodeBits, namespace] = match as unknown as [string, KeyClock?, ...string[]]
  return { clock, geometry: geometry as string, nodeBits: BigInt(nodeBits as string), namespace: namespace as string }
}

/** The key of the state file that stands beside a page of this key. */
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

/** Bytes in UTF-8; with the longest key it fits a page (`native/host/header.h`). Longer names are not kept. */
const maxDescription = 2048
const descriptions = new WeakMap<Layout, string>()

/** A layout with its names, as JSON; one text for all generators of the layout. */
export function describeLayout(layout: Layout): string {
  let description = descriptions.get(layout)
  if (description === undefined) {
    const { name, epochMs, tickMs, fields, unsigned } = layout
    description = JSON.stringify({ name, epochMs, tickMs, fields, unsigned })
    if (new TextEncoder().encode(description).length > maxDescription) {
      const isOwn = (field: string) => field === 'timestamp' || field === 'sequence'
      const short = fields.map(([field, bits], i) => [isOwn(field) ? field : `field${i}`, bits])
      description = JSON.stringify({ name: '', epochMs, tickMs, fields: short, unsigned })
    }
    descriptions.set(layout, description)
  }
  return description
}

/** The layout that {@link describeLayout} described; `undefined` for any other text. The name is `''` where it was not kept. */
export function parseDescription(text: string): { readonly name: string; readonly layout: Layout } | undefined {
  try {
    const { name, ...rest } = JSON.parse(text)
    if (typeof name !== 'string') return undefined
    return { name, layout: defineLayout<readonly Field[]>({ ...rest, name: name || 'unnamed' }) }
  } catch {
    return undefined
  }
}

/** The name of the layout in a description of {@link describeLayout}'s. */
export function layoutNameIn(description: string): string {
  return (JSON.parse(description) as { name: string }).name
}

/** The ids of a state, as messages name them. */
export function idsText(key: string, description: string): string {
  const parsed = parseKey(key)
  const described = parseDescription(description)
  if (parsed === undefined || described === undefined || !hasGeometry(parsed, described.layout)) return 'unknown ids'
  const { name, layout } = described
  const { nodeBits, namespace } = parsed
  if (nodeBits >> BigInt(layout.bits) !== 0n) return 'unknown ids'
  const { node } = decode(nodeBits, layout)
  return `layout ${show(name)} (${fieldsText(layout)}; epoch ${layout.epochMs}, tick ${layout.tickMs} ms), node ${node}, namespace ${show(namespace)}`
}
