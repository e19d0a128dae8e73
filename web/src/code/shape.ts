import type { Layout } from 'graupel'

/** A field of a layout as code needs it. */
export interface CodeField {
  /** The name in the layout, for messages. */
  readonly label: string
  /** A name that no language and no line of the code has already. */
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

/** Words of the seven languages that begin with a small letter, and the names in the code itself. */
const taken = new Set(
  (
    'abstract alias and arguments as assert async await base begin bool boolean break byte case catch char checked ' +
    'class clone const continue debugger decimal decode def default defined del delegate delete do double elif else ' +
    'elsif encode end ensure enum epochMs eval event except explicit export extends extern false final finalize ' +
    'finally fit fixed float for foreach from function getClass global goto hashCode id if implements implicit ' +
    'import in instanceof int interface internal is lambda last let lock long max module ms mutex name namespace ' +
    'native new next nil nonlocal not notify notifyAll now null object operator or out override package params pass ' +
    'private protected public raise readonly record redo ref rescue retry return sbyte sealed self short sizeof ' +
    'stackalloc static strictfp string struct super switch synchronized systemMs system_ms then this throw throws ' +
    'tick tickOf tick_of timestampMs timestamp_ms toString transient true try typeof uint ulong unchecked undef ' +
    'unless unsafe until ushort using value var virtual void volatile wait when while with yield'
  ).split(' '),
)

/** Returns a name for a field in code: `class_` for `class`, and `class__` for `class_`. */
function nameOf(field: string): string {
  return taken.has(field.replace(/_+$/, '')) ? `${field}_` : field
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
  const name = layout.name.replace(/[^\p{L}\p{N} ._-]+/gu, ' ')
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
