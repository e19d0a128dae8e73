import { rangeError, show, typeError } from '../core/errors.js'
import { type Instant, toMs } from '../core/moment.js'
import { ownProperties } from '../core/options.js'
import { halves, high, low } from '../core/typed-array.js'
import { genuineLayout } from './define.js'
import { loadId } from './id.js'
import type { Field, GivenId, Layout, NodeFieldOf, TagOf } from './layout.js'
import { combineNode, type NodeOf, shiftNode } from './node.js'
import { partOf } from './part.js'
import { checkTags, type GivenTags, shiftTags, type TagValues, tagsOf } from './tags.js'

/**
 * The parts of an id, as {@link decode} returns them: {@link IdFacts}, and `tags` if the layout has tags.
 *
 * @example
 * decode('175928847299117063', layouts.discord).fields // { worker: 1, process: 0 }
 */
export type DecodedId<F extends readonly Field[] = readonly Field[]> = IdFacts<F> & DecodedTags<F>

/**
 * The property `tags`: the values of all tags by their names, if the layout has tags. It is optional if
 * TypeScript does not know the layout.
 */
export type DecodedTags<F extends readonly Field[]> =
  string extends TagOf<F>
    ? { tags?: TagValues<F> }
    : [TagOf<F>] extends [never]
      ? { tags?: never }
      : { tags: TagValues<F> }

/** The parts that ids of every layout have. */
export interface IdFacts<F extends readonly Field[] = readonly Field[]> {
  /** The time at which the id was made, to the tick. */
  timestamp: Date
  /** The same moment in milliseconds since 1970. */
  timestampMs: number
  /** All node fields as one number, the first field the most significant. */
  node: number
  /** The node fields by their names. */
  fields: { [K in NodeFieldOf<F>]: number }
  /** The number of the id in its tick and node, from 0. */
  sequence: number
}

/**
 * The parts that {@link composeId} takes, with the node in either form: {@link PlainIdParts}, and `tags` if
 * the layout has tags.
 *
 * @example
 * composeId({ timestampMs: Date.UTC(2024, 0, 1), node: 0 }, layouts.twitter) // 1741610183685046272n
 */
export type IdParts<F extends readonly Field[] = readonly Field[]> = PlainIdParts<F> & GivenTagsPart<F>

/** The property `tags`, which is required if one of the tags has to be chosen. */
export type GivenTagsPart<F extends readonly Field[]> =
  string extends TagOf<F>
    ? { readonly tags?: GivenTags<F> }
    : [TagOf<F>] extends [never]
      ? unknown
      : [TagOf<F, 'tag'>] extends [never]
        ? { readonly tags?: GivenTags<F> }
        : { readonly tags: GivenTags<F> }

/** The parts that ids of every layout are made of. */
export interface PlainIdParts<F extends readonly Field[] = readonly Field[]> {
  /** Milliseconds since 1970; rounded down to the layout's tick. */
  timestampMs: number
  /** One number over all node fields, or a number for each field. */
  node: NodeOf<F>
  /** From 0 to the most that the layout holds. @default 0 */
  sequence?: number
  /** Optional, because {@link decode} returns it: the moment of `timestampMs`. */
  timestamp?: Date | Instant
  /** Optional, because {@link decode} returns it: the fields of `node`. */
  fields?: { readonly [K in NodeFieldOf<F>]: number }
}

/**
 * Takes an id apart.
 *
 * @param id - A bigint, or the id in decimal digits. A number, if the layout has at most 53 bits.
 * @param layout - The layout it was made with; nothing in an id tells which.
 * @throws TypeError, RangeError `ERR_ID_INVALID` for anything but an id, or for an id that is too wide for
 * the layout; TypeError `ERR_LAYOUT_INVALID`.
 * @example
 * decode('175928847299117063', layouts.discord).timestamp.toISOString() // '2016-04-30T11:18:25.796Z'
 */
export function decode<F extends readonly Field[]>(id: GivenId<F>, layout: Layout<F>): DecodedId<F> {
  layout = genuineLayout(layout)
  loadId(id, layout)
  const upper = halves[high] as number
  const lower = halves[low] as number
  const timestampMs = timeOf(layout, upper, lower)
  let node = 0
  const fields: Record<string, number> = {}
  for (const field of layout.nodeFields) {
    const part = partOf(upper, lower, field)
    fields[field.name] = part
    node = node * 2 ** field.bits + part
  }
  const facts: IdFacts<F> = {
    timestamp: new Date(timestampMs),
    timestampMs,
    node,
    fields: fields as IdFacts<F>['fields'],
    sequence: partOf(upper, lower, layout.sequence),
  }
  const decoded = layout.tagFields.length === 0 ? facts : { ...facts, tags: tagsOf(layout, upper, lower) }
  return decoded as DecodedId<F>
}

/**
 * Returns the time of an id, in milliseconds since 1970: the `timestampMs` of {@link decode}, in a fraction
 * of the time.
 *
 * @param id - A bigint, or the id in decimal digits. A number, if the layout has at most 53 bits.
 * @param layout - The layout it was made with; nothing in an id tells which.
 * @throws TypeError, RangeError `ERR_ID_INVALID` for anything but an id, or for an id that is too wide for
 * the layout; TypeError `ERR_LAYOUT_INVALID`.
 * @example
 * timestampMsOf('175928847299117063', layouts.discord) // 1462015105796
 */
export function timestampMsOf<F extends readonly Field[]>(id: GivenId<F>, layout: Layout<F>): number {
  layout = genuineLayout(layout)
  loadId(id, layout)
  return timeOf(layout, halves[high] as number, halves[low] as number)
}

/** The time of an id in two halves, in milliseconds since 1970. @internal */
export function timeOf<F extends readonly Field[]>(
  { epochMs, tickMs, timestamp }: Layout<F>,
  upper: number,
  lower: number,
) {
  return epochMs + partOf(upper, lower, timestamp) * tickMs
}

const partNames = ['timestampMs', 'node', 'sequence', 'timestamp', 'fields', 'tags']

/**
 * Puts an id together from its parts: the reverse of {@link decode}. For range queries (the first id of a
 * moment) and for taking over ids of another system; ids that have to be new come from a generator. The
 * result of {@link decode} can be passed; it is refused if `timestamp` or `fields` contradict `timestampMs`
 * or `node`.
 *
 * @param parts - `timestampMs` and `node` are required, and the tags that have no default; the sequence is 0
 * by default.
 * @param layout - The layout of the id.
 * @throws TypeError, RangeError `ERR_ID_INVALID` for a time or sequence that the layout cannot hold;
 * TypeError, RangeError `ERR_NODE_INVALID`, `ERR_LAYOUT_INVALID`; `ERR_OPTION_INVALID` for tags; TypeError
 * `ERR_OPTION_UNKNOWN`.
 * @example
 * const parts = { timestampMs: 1462015105796, node: { worker: 1, process: 0 }, sequence: 7 }
 * composeId(parts, layouts.discord) // 175928847299117063n
 */
export function composeId<F extends readonly Field[]>(parts: IdParts<F>, layout: Layout<F>): bigint {
  layout = genuineLayout(layout)
  if (typeof parts !== 'object' || parts === null) {
    throw typeError(
      'ERR_ID_INVALID',
      `the parts are ${show(parts)}; pass an object with timestampMs, node and sequence`,
    )
  }
  for (const key of Object.keys(parts)) {
    if (!partNames.includes(key)) {
      throw typeError('ERR_OPTION_UNKNOWN', `an id has no part ${show(key)}; it has ${partNames.join(', ')}`)
    }
  }
  const {
    timestampMs,
    node,
    sequence = 0,
    timestamp,
    fields,
    tags = {},
  } = ownProperties<IdParts>(parts as IdParts, partNames, 'ERR_ID_INVALID', 'the part')
  if (typeof timestampMs !== 'number') {
    throw typeError(
      'ERR_ID_INVALID',
      `timestampMs is ${show(timestampMs)}; pass milliseconds since 1970, such as Date.now() or date.getTime()`,
    )
  }
  const tick = Math.floor((timestampMs - layout.epochMs) / layout.tickMs)
  if (!(tick >= 0 && tick < 2 ** layout.timestamp.bits)) {
    throw rangeError(
      'ERR_ID_INVALID',
      `timestampMs is ${show(timestampMs)}; layout '${layout.name}' holds ${layout.epochMs} up to, but not including, ${layout.epochMs + 2 ** layout.timestamp.bits * layout.tickMs}`,
    )
  }
  if (!Number.isInteger(sequence) || sequence < 0 || sequence >= 2 ** layout.sequence.bits) {
    throw rangeError(
      'ERR_ID_INVALID',
      `the sequence is ${show(sequence)}; layout '${layout.name}' holds 0 to ${2 ** layout.sequence.bits - 1}`,
    )
  }
  const momentMs = typeof timestamp === 'object' ? toMs(timestamp) : undefined
  if (timestamp !== undefined && momentMs !== timestampMs) {
    const shown = typeof momentMs === 'number' ? ` (${momentMs} ms)` : ''
    throw rangeError(
      'ERR_ID_INVALID',
      `timestamp is ${show(timestamp)}${shown}, and timestampMs is ${timestampMs}; pass a Date of the same moment, or leave it out`,
    )
  }
  const combined = combineNode(layout, node)
  if (fields !== undefined && combineNode(layout, fields) !== combined) {
    throw rangeError(
      'ERR_NODE_INVALID',
      `fields are those of node ${combineNode(layout, fields)}, and node is ${combined}; pass the same in both, or leave fields out`,
    )
  }
  const given = checkTags(layout, tags, 'the id')
  return (
    (BigInt(tick) << BigInt(layout.timestamp.shift)) |
    shiftTags(layout, given) |
    shiftNode(layout, combined) |
    (BigInt(sequence) << BigInt(layout.sequence.shift))
  )
}
