import type { Layout } from '../layout/index.js'
import { isUnit, type Unit, units } from '../pattern/calendar.js'
import { parsePattern, patternError } from '../pattern/pattern.js'

/** A piece of a serial, of constant length: fixed text, a unit of time, or a number with its bits. */
export type SerialPart =
  | { readonly kind: 'literal'; readonly literal: string; readonly width: number }
  | { readonly kind: 'unit'; readonly unit: Unit; readonly width: number }
  | NumberPart

/** The sequence, a node field, a tag, or all node fields as one number. */
export interface NumberPart {
  readonly kind: 'sequence' | 'field' | 'node' | 'tag'
  readonly placeholder: string
  readonly bits: number
  readonly width: number
}

/**
 * Reads a pattern for the ids of a layout: which parts there are. @throws TypeError, RangeError
 * `ERR_PATTERN_INVALID`
 */
export function parseParts(pattern: string, layout: Layout): SerialPart[] {
  const numbers = numbersOf(layout)
  const placeholders = [...units, ...numbers.map(({ placeholder }) => placeholder)]
  return parsePattern(pattern, placeholders).map((part): SerialPart => {
    if ('literal' in part) return { kind: 'literal', literal: part.literal, width: part.literal.length }
    const { placeholder } = part
    if (isUnit(placeholder)) return { kind: 'unit', unit: placeholder, width: placeholder.length }
    const number = numbers.find((other) => other.placeholder === placeholder) as NumberPart
    const { width = number.width } = part
    if (width < number.width) {
      throw patternError(
        pattern,
        `{${placeholder}:${width}} has too few digits: ${2 ** number.bits - 1}, the largest that ${number.bits} bits of layout '${layout.name}' hold, has ${number.width}; write {${placeholder}}, or give the layout fewer bits`,
      )
    }
    return { ...number, width }
  })
}

/** The numbers that a pattern may name, each with the digits that its largest value needs. */
function numbersOf({ nodeFields, nodeBits, tagFields, sequence }: Layout): NumberPart[] {
  const number = (kind: NumberPart['kind'], placeholder: string, bits: number): NumberPart => {
    return { kind, placeholder, bits, width: String(2 ** bits - 1).length }
  }
  // The name of a unit of time is that unit, and a field with the name 'node' is that field.
  const fields = nodeFields.filter(({ name }) => !isUnit(name)).map(({ name, bits }) => number('field', name, bits))
  const tags = tagFields.filter(({ name }) => !isUnit(name)).map(({ name, bits }) => number('tag', name, bits))
  const hasAll = nodeFields.length > 0 && ![...nodeFields, ...tagFields].some(({ name }) => name === 'node')
  const all = hasAll ? [number('node', 'node', nodeBits)] : []
  return [...fields, ...all, ...tags, number('sequence', 'sequence', sequence.bits)]
}

/**
 * Returns whether texts are ordered as ids are: each part stands before all parts that are less significant
 * in the id.
 *
 * @param parts - They contain every part in which ids differ.
 */
export function areInOrder(parts: readonly SerialPart[], { placements, nodeFields }: Layout): boolean {
  const rankOf = (field: string) => placements.findIndex(({ name }) => name === field) * units.length
  const ranks = parts.flatMap((part) => {
    switch (part.kind) {
      case 'literal':
        return []
      case 'unit':
        return [rankOf('timestamp') + units.indexOf(part.unit)]
      case 'node':
        return nodeFields.map(({ name }) => rankOf(name))
      default:
        return [rankOf(part.placeholder)]
    }
  })
  return ranks.every((rank, i) => i === 0 || rank > (ranks[i - 1] as number))
}

/** Units of time, the largest first, with the most milliseconds that a unit can have. */
const lengths: readonly (readonly [Unit, number])[] = [
  ['yyyy', 31_622_400_000],
  ['MM', 2_678_400_000],
  ['dd', 86_400_000],
  ['HH', 3_600_000],
  ['mm', 60_000],
  ['ss', 1000],
  ['SSS', 1],
]

/**
 * Checks that the parts contain everything in which two ids can differ, each once.
 *
 * @throws RangeError `ERR_PATTERN_INVALID`
 */
export function checkComplete(pattern: string, parts: readonly SerialPart[], layout: Layout): void {
  const missing = [
    ...missingUnits(parts, layout),
    ...missingFields(pattern, parts, layout),
    ...missingTags(pattern, parts, layout),
  ]
  if (!parts.some(({ kind }) => kind === 'sequence')) missing.push('sequence')
  if (missing.length === 0) return
  throw patternError(
    pattern,
    `${braced(missing)} ${missing.length === 1 ? 'is' : 'are'} missing, so that two ids of layout '${layout.name}' could have one text; add ${missing.length === 1 ? 'it' : 'them'}`,
  )
}

/**
 * The units from the year to the smallest one that is given, or to the one that no two ticks have in common.
 */
function missingUnits(parts: readonly SerialPart[], { tickMs }: Layout): Unit[] {
  const given = new Set(parts.map((part) => (part.kind === 'unit' ? part.unit : undefined)))
  if (given.has('yy')) given.add('yyyy')
  const smallest = lengths.findLastIndex(([unit]) => given.has(unit))
  // Ticks that are at least this far apart lie in different units, at any epoch.
  const needed = lengths.findIndex(([, longestMs]) => longestMs <= tickMs)
  const path = lengths.slice(0, Math.max(smallest, needed) + 1)
  return path.map(([unit]) => unit).filter((unit) => !given.has(unit))
}

function missingFields(pattern: string, parts: readonly SerialPart[], { nodeFields }: Layout): string[] {
  const given = parts.flatMap((part) => (part.kind === 'field' ? [part.placeholder] : []))
  if (parts.some(({ kind }) => kind === 'node')) {
    if (given.length === 0) return []
    throw patternError(pattern, `{node} has ${braced(given)} in it; leave out the one or the other`)
  }
  const missing = nodeFields.map(({ name }) => name).filter((name) => !given.includes(name))
  const unit = missing.find(isUnit)
  if (unit !== undefined) {
    const isTaken = nodeFields.some(({ name }) => name === 'node')
    const remedy = isTaken ? 'rename it in the layout' : 'write {node} for all node fields'
    throw patternError(pattern, `the node field '${unit}' has the name of a unit of time; ${remedy}`)
  }
  return missing
}

function missingTags(pattern: string, parts: readonly SerialPart[], { tagFields }: Layout): string[] {
  const given = parts.flatMap((part) => (part.kind === 'tag' ? [part.placeholder] : []))
  const missing = tagFields.map(({ name }) => name).filter((name) => !given.includes(name))
  const unit = missing.find(isUnit)
  if (unit === undefined) return missing
  throw patternError(pattern, `the tag '${unit}' has the name of a unit of time; rename it in the layout`)
}

function braced(placeholders: readonly string[]): string {
  return placeholders.map((placeholder) => `{${placeholder}}`).join(', ')
}
