import { defineLayout, type Field, type Layout } from 'graupel'
import { shortened, type Trouble } from '../ids/trouble.ts'
import type { Values } from '../state.ts'
import { readNumber, readTime } from '../text/time.ts'
import { remembered, trouble } from './choice.ts'
import { fieldOf, fieldsFromText, type TypedField } from './spec-text.ts'

/** A design as it was typed, and its layout if the design has no fault. */
export interface Design {
  readonly fields: readonly TypedField[]
  readonly layout: Layout | undefined
  /** The fault of the epoch. */
  readonly epochTrouble: Trouble | undefined
  readonly tickTrouble: Trouble | undefined
  /** The first fault of each field's name or bits. */
  readonly fieldTroubles: readonly (Trouble | undefined)[]
  /** The fault of the design as a whole. */
  readonly trouble: Trouble | undefined
  /** Bits of all fields without a fault. */
  readonly bits: number
}

const maxFieldBits = 53
const maxTickMs = 1000 * 3600 * 24

export function designOf({ name, epoch, tick, unsigned, fields: text }: Values<'design'>): Design {
  const fields = fieldsFromText(text)
  const epochMs = trouble(() => readTime(epoch))
  const tickMs = trouble(() => readNumber(tick, 1, maxTickMs))
  const widths = fields.map(([, bits]) => trouble(() => readNumber(bits, 1, maxFieldBits)))
  const fieldTroubles = fields.map(([field], i) => nameTrouble(field, i, fields) ?? widths[i]?.trouble)
  const bits = widths.reduce((sum, { value = 0 }) => sum + value, 0)
  const common = { fields, epochTrouble: epochMs.trouble, tickTrouble: tickMs.trouble, fieldTroubles, bits }
  if (epochMs.value === undefined || tickMs.value === undefined || fieldTroubles.some((one) => one !== undefined)) {
    return { ...common, layout: undefined, trouble: undefined }
  }
  const most = unsigned === '' ? 63 : 64
  if (bits > most) {
    return { ...common, layout: undefined, trouble: { key: 'troubleBits', values: { bits, most, over: bits - most } } }
  }
  const spec = {
    name: name.trim() || 'ids',
    epochMs: epochMs.value,
    tickMs: tickMs.value,
    unsigned: unsigned !== '',
    fields: fields.map(fieldOf),
  }
  const { value: layout, trouble: wrong } = trouble(() => remembered(defineLayout<readonly Field[]>(spec)))
  return { ...common, layout, trouble: wrong }
}

function nameTrouble(name: string, at: number, fields: readonly TypedField[]): Trouble | undefined {
  if (!/^[a-z][a-zA-Z0-9_]*$/.test(name)) return { key: 'troubleFieldName', values: { name: shortened(name) } }
  const isTwice = fields.slice(0, at).some(([other]) => other === name)
  return isTwice ? { key: 'troubleFieldTwice', values: { name: shortened(name) } } : undefined
}

/** Returns the code that defines the layout. */
export function codeOf({ name, epochMs, tickMs, fields, unsigned }: Layout): string {
  return [
    `import { defineLayout } from 'graupel'`,
    '',
    `export const ${variableOf(name)} = defineLayout({`,
    `  name: ${JSON.stringify(name).replace(/^"(.*)"$/s, (_, text: string) => `'${text.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`)},`,
    `  epochMs: ${epochMs}, // ${new Date(epochMs).toISOString()}`,
    `  tickMs: ${tickMs},`,
    '  fields: [',
    ...fields.map(([field, bits, role]) => `    ['${field}', ${bits}${role === undefined ? '' : `, '${role}'`}],`),
    '  ],',
    ...(unsigned ? ['  unsigned: true,'] : []),
    '})',
  ].join('\n')
}

/** Returns a name for the constant. It ends in `Layout`, so it is no reserved word. */
function variableOf(name: string): string {
  const words = [...(name.match(/[a-zA-Z0-9]+/g) ?? []), 'layout']
  const joined = words.map((word, i) => (i === 0 ? word : word[0]?.toUpperCase() + word.slice(1))).join('')
  return /^[a-zA-Z]/.test(joined) ? joined : 'layout'
}
