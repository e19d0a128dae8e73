import { defineLayout, type Field, type Layout, type TagRole } from 'graupel'
import { shortened, Told } from '../ids/trouble.ts'

/** A field of a design as it was typed: a name, bits that may be no number, and the role of a tag. */
export type TypedField = readonly [name: string, bits: string, role?: string]

/** Returns the field as a layout has it. Bits that are no number become NaN, which `defineLayout` refuses. */
export function fieldOf([name, bits, role]: TypedField): Field {
  return role === undefined ? [name, Number(bits)] : [name, Number(bits), role as TagRole]
}

/** Returns the field as it would have been typed. */
export function typedOf([name, bits, ...role]: Field): TypedField {
  return [name, String(bits), ...role]
}

// Commas and full stops are separators. The role `tag?` stays legible.
const escaped = (text: string) => encodeURIComponent(text).replaceAll('.', '%2E').replaceAll('%3F', '?')

/** Writes fields as one text, for links: `timestamp.41,worker.10,shard.4.tag,sequence.8`. */
export function fieldsToText(fields: readonly TypedField[]): string {
  return fields.map((field) => field.map((text) => escaped(text as string)).join('.')).join(',')
}

/**
 * Number of fields that are read. A layout has at most 64 fields; the 65th makes a longer text fail, and
 * reading more would only take time.
 */
const mostFields = 65

export function fieldsFromText(text: string): TypedField[] {
  return text.split(',', mostFields).map((field) => {
    const [name = '', bits = '', role] = field.split('.').map(unescaped)
    return role === undefined ? [name, bits] : [name, bits, role]
  })
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Writes a layout as one text, for links: `orders@1704067200000/1:timestamp.41,worker.10,sequence.12`. `/u`
 * means unsigned, `/d` decode only.
 */
export function layoutToText({ name, epochMs, tickMs, fields, unsigned, decodeOnly }: Layout): string {
  return `${name}@${epochMs}/${tickMs}${unsigned ? '/u' : ''}${decodeOnly ? '/d' : ''}:${fieldsToText(fields.map(typedOf))}`
}

/** @throws Told */
export function layoutFromText(text: string): Layout {
  const match = /^(.+)@(-?\d+)\/(\d+)(\/u)?(\/d)?:([^:]+)$/s.exec(text)
  if (match === null) throw new Told('troubleLayoutText', { text: shortened(text) })
  const [, name = '', epochMs, tickMs, unsigned, decodeOnly, fields = ''] = match
  try {
    return defineLayout({
      name,
      epochMs: Number(epochMs),
      tickMs: Number(tickMs),
      unsigned: unsigned !== undefined,
      decodeOnly: decodeOnly !== undefined,
      fields: fieldsFromText(fields).map(fieldOf),
    })
  } catch (error) {
    throw new Told('troubleLibrary', { message: (error as Error).message })
  }
}
