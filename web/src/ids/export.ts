import { decode, type Encoding, type Layout } from 'graupel'
import { writeId } from './encodings.ts'

export type FileKind = 'text' | 'csv' | 'json'

/** Ids in one part of a file. */
const partIds = 512

/** Writes ids as the parts of a file, and yields its progress. */
export function* exported(
  kind: FileKind,
  ids: BigUint64Array,
  layout: Layout,
  encoding: Encoding,
): Generator<number, string[]> {
  const names = layout.nodeFields.map(({ name }) => (name === 'id' ? 'fields.id' : name))
  const parts: string[] = []
  if (kind === 'csv') parts.push(`${['id', 'timestamp', ...names, 'sequence'].join(',')}\n`)
  if (kind === 'json') parts.push('[')
  for (let from = 0; from < ids.length; from += partIds) {
    const lines = [...ids.subarray(from, from + partIds)].map((id) => lineOf(kind, id, layout, encoding))
    const separator = kind === 'json' ? ',\n' : '\n'
    const isFirst = from === 0
    parts.push(kind === 'json' ? `${isFirst ? '\n' : separator}${lines.join(separator)}` : `${lines.join('\n')}\n`)
    yield from / ids.length
  }
  if (kind === 'json') parts.push('\n]\n')
  return parts
}

function lineOf(kind: FileKind, id: bigint, layout: Layout, encoding: Encoding): string {
  const text = writeId(id, encoding)
  if (kind === 'text') return text
  const { timestamp, fields, sequence } = decode(id, layout)
  if (kind === 'csv') return [text, timestamp.toISOString(), ...Object.values(fields), sequence].join(',')
  // `fields` is an object of its own, because a node field may be called `id`.
  return JSON.stringify({ id: text, timestamp, fields, sequence })
}

/** Saves a file that consists of these parts. */
export function download(name: string, type: string, parts: BlobPart[]): void {
  const url = URL.createObjectURL(new Blob(parts, { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the address after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
