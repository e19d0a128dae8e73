import type { Layout } from 'graupel'

/** A field of a layout as code needs it. */
export interface CodeField {
  /** The name in the layout, for messages. */
  readonly label: string
  /** Its name in the code. */
  readonly name: string
  readonly bits: number
  readonly shift: number
  /** The largest value, in decimal. */
  readonly max: string
  /** The same bits set to one, in hexadecimal: `0xfff`. */
  readonly mask: string
}

/** A layout as code needs it. The languages differ in nothing but syntax. */
export interface Shape {
  /** Comments that stand first, each a line. */
  readonly heading: readonly string[]
  readonly epochMs: number
  readonly tickMs: number
  readonly bits: number
  /** All fields, the most significant first. */
  readonly fields: readonly CodeField[]
  /** The fields that a generator has: those of the node, and tags. */
  readonly own: readonly CodeField[]
  readonly timestamp: CodeField
  readonly sequence: CodeField
  /** The comments of the generator, each a line. Empty if no generator may make such ids. */
  readonly promises: readonly string[]
}

/** Common names of fields that no language and no line of the code has already. */
const plain = ['sequence', 'datacenter', 'worker', 'process', 'node', 'machine', 'region', 'shard', 'tenant', 'zone']

/**
 * Returns a name for a field in code. The field `class` becomes `class_`, because no word of a language ends
 * in `_`.
 */
function nameOf(field: string): string {
  return plain.includes(field) ? field : `${field}_`
}

/** Returns what the code of a layout is made of. */
export function shapeOf(layout: Layout): Shape {
  const fields = layout.placements.map(({ name, bits, shift }): CodeField => {
    const ones = (1n << BigInt(bits)) - 1n
    const max = name === 'timestamp' ? String(layout.maxTick) : String(ones)
    return { label: name, name: nameOf(name), bits, shift, max, mask: `0x${ones.toString(16)}` }
  })
  const field = (name: string) => fields.find(({ label }) => label === name) as CodeField
  // No character may end a comment, or PHP.
  const name = layout.name.replace(/[^\p{L}\p{N}._-]+/gu, ' ')
  return {
    heading: [
      `Ids of the layout ${name}: ${layout.fields.map((field) => field.join(' ')).join(', ')};`,
      `ticks of ${layout.tickMs} ms since ${new Date(layout.epochMs).toISOString()}.`,
    ],
    epochMs: layout.epochMs,
    tickMs: layout.tickMs,
    bits: layout.bits,
    fields,
    own: fields.filter(({ label }) => label !== 'timestamp' && label !== 'sequence'),
    timestamp: field('timestamp'),
    sequence: field('sequence'),
    promises: layout.decodeOnly
      ? []
      : [
          'Makes ids of one node. Throws if the clock went back; waits if all numbers of a tick are used.',
          'Does not tell hosts or processes apart: each needs a node number that no other one has.',
          'Does not remember ids: after a restart, a clock that was set back can repeat them.',
        ],
  }
}

/** Writes lines as comments. */
export function commented(lines: readonly string[], mark: string): string {
  return lines.map((line) => `${mark} ${line}`).join('\n')
}

/** Writes the part of an id: `id >> 12 & 0xfff`. */
export function partOf({ shift, mask }: CodeField, id = 'id', suffix = '', shiftSuffix = suffix): string {
  return `${id}${shift === 0 ? '' : ` >> ${shift}${shiftSuffix}`} & ${mask}${suffix}`
}

/** Writes a shift to the left, unless it is by 0. */
export function shifted(value: string, { shift }: CodeField, suffix = ''): string {
  return shift === 0 ? value : `${value} << ${shift}${suffix}`
}
