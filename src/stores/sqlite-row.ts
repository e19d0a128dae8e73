import type { StoreEntry } from './store.js'

/** A row of the table of records, as bytes. */
export type RowBytes = Readonly<Record<'key' | 'value' | 'version', ArrayBuffer>>

/**
 * Returns the columns of a statement as bytes, because libsql ends the process if a text of the file is no
 * text.
 */
export function bytesOf(columns: string): string {
  return columns.replaceAll(/\w+/g, 'CAST($& AS BLOB) AS $&')
}

/** A version that this module has made: the name of the write, and the checksum of its row. */
const sealedVersion = /^(.+)\.([0-9a-f]{8})$/s

/**
 * Returns a version that has the checksum of its row, FNV-1a, because SQLite has no checksums and a bad disk
 * would turn numbers back in silence. It is a part of the version, so that a former release, which does not
 * know it, replaces it with the row.
 */
export function sealed(key: string, value: string, name: string): string {
  let hash = 0x811c9dc5
  for (const text of [key, value, name]) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    // No text has this character, so two divisions of the same text differ.
    hash = Math.imul(hash ^ 0xffff, 0x01000193)
  }
  return `${name}.${(hash >>> 0).toString(16).padStart(8, '0')}`
}

/** Makes an entry of a row. Rows of former releases have no checksum. */
export function entryFrom({ key, value, version }: RowBytes, encoding: string): StoreEntry {
  const read = (fatal: boolean): StoreEntry => {
    const decoder = new TextDecoder(encoding, { fatal, ignoreBOM: true })
    return { key: decoder.decode(key), value: decoder.decode(value), version: decoder.decode(version) }
  }
  try {
    const entry = read(true)
    const [, name] = sealedVersion.exec(entry.version) ?? []
    if (name === undefined || sealed(entry.key, entry.value, name) === entry.version) return entry
    return { ...entry, damage: 'its checksum does not fit its content' }
  } catch {
    return { ...read(false), damage: `it has bytes that are no ${encoding}` }
  }
}
