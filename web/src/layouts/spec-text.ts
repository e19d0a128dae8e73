import { defineLayout, type Layout } from 'graupel'
import { shortened, Told } from '../ids/trouble.ts'

/** A field of a design as it was typed: a name, and bits that may be no number. */
export type TypedField = readonly [name: string, bits: string]

// Commas and full stops are separators.
const escaped = (text: string) => encodeURIComponent(text).replaceAll('.', '%2E')

/** Writes fields as one text, for links: `timestamp.41,worker.10,sequence.12`. */
export function fieldsToText(fields: readonly TypedField[]): string {
  return fields.map(([name, bits]) => `${escaped(name)}.${escaped(bits)}`).join(',')
}

/**
 * Number of fields that are read. A layout has at most 64 fields; the 65th makes a longer text fail, and
 * reading more would only take time.
 */
const mostFields = 65

export function fieldsFromText(text: string): TypedField[] {
  return text.split(',', mostFields).map((field) => {
    const [name = '', bits = ''] = field.split('.')
    return [unescaped(name), unescaped(bits)]
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
  const typed = fields.map(([field, bits]) => [field, String(bits)] as const)
  return `${name}@${epochMs}/${tickMs}${unsigned ? '/u' : ''}${decodeOnly ? '/d' : ''}:${fieldsToText(typed)}`
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
      fields: fieldsFromText(fields).map(([field, bits]) => [field, Number(bits)] as const),
    })
  } catch (error) {
    throw new Told('troubleLibrary', { message: (error as Error).message })
  }
}
