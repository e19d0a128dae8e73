import type { Layout } from '../layout/index.js'
import { patternError } from '../pattern/pattern.js'
import { isUnit, type Unit } from '../pattern/units.js'
import type { SerialPart } from './parts.js'

/** Units of time, the largest first, with the most milliseconds that one of them has. */
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
 * Checks that the parts have all that two ids can differ in, each of it once.
 *
 * @throws RangeError `ERR_PATTERN_INVALID`
 */
export function checkComplete(pattern: string, parts: readonly SerialPart[], layout: Layout): void {
  const missing = [...missingUnits(parts, layout), ...missingFields(pattern, parts, layout)]
  if (!parts.some(({ kind }) => kind === 'sequence')) missing.push('sequence')
  if (missing.length === 0) return
  throw patternError(
    pattern,
    `${braced(missing)} ${missing.length === 1 ? 'is' : 'are'} missing, so that two ids of layout '${layout.name}' could have one text; add ${missing.length === 1 ? 'it' : 'them'}`,
  )
}

/** The units from the year to the smallest one that is given, or to the one that no two ticks have in common. */
function missingUnits(parts: readonly SerialPart[], { tickMs }: Layout): Unit[] {
  const given = new Set(parts.map((part) => (part.kind === 'unit' ? part.unit : undefined)))
  if (given.has('yy')) given.add('yyyy')
  const smallest = lengths.findLastIndex(([unit]) => given.has(unit))
  // Ticks that are at least so far apart lie in different units, wherever the epoch is.
  const needed = lengths.findIndex(([, longestMs]) => longestMs <= tickMs)
  const path = lengths.slice(0, Math.max(smallest, needed) + 1)
  return path.map(([unit]) => unit).filter((unit) => !given.has(unit))
}

function missingFields(pattern: string, parts: readonly SerialPart[], { nodeFields }: Layout): string[] {
  const given = parts.flatMap((part) => (part.kind === 'field' ? [part.token] : []))
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

function braced(tokens: readonly string[]): string {
  return tokens.map((token) => `{${token}}`).join(', ')
}
