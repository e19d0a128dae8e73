import { decode, type Layout } from 'graupel'

export type FileKind = 'text' | 'csv' | 'json'

/** Ids in one part of a file. */
const partIds = 512

/** Writes ids as the parts of a file, and yields its progress. @param textOf - Writes the id at a place. */
export function* exported(
  kind: FileKind,
  ids: BigUint64Array,
  layout: Layout,
  textOf: (at: number) => string,
): Generator<number, string[]> {
  const named = (whose: string) => (field: { name: string }) => (field.name === 'id' ? `${whose}.id` : field.name)
  const names = [...layout.nodeFields.map(named('fields')), ...layout.tagFields.map(named('tags'))]
  const parts: string[] = []
  if (kind === 'csv') parts.push(`${['id', 'timestamp', ...names, 'sequence'].join(',')}\n`)
  if (kind === 'json') parts.push('[')
  for (let from = 0; from < ids.length; from += partIds) {
    const lines = [...ids.subarray(from, from + partIds)].map((id, i) => lineOf(kind, id, layout, textOf(from + i)))
    const separator = kind === 'json' ? ',\n' : '\n'
    const isFirst = from === 0
    parts.push(kind === 'json' ? `${isFirst ? '\n' : separator}${lines.join(separator)}` : `${lines.join('\n')}\n`)
    yield from / ids.length
  }
  if (kind === 'json') parts.push('\n]\n')
  return parts
}

function lineOf(kind: FileKind, id: bigint, layout: Layout, text: string): string {
  if (kind === 'text') return text
  const { timestamp, fields, tags, sequence } = decode(id, layout)
  if (kind === 'csv')
    return [text, timestamp.toISOString(), ...Object.values({ ...fields, ...tags }), sequence].join(',')
  // `fields` is an object of its own, because a node field may be called `id`.
  return JSON.stringify({ id: text, timestamp, fields, tags, sequence })
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
