import type { StoreEntry } from './store.js'
import { newVersion } from './version.js'

/** A random UUID stands before the value. */
const versionLength = 36

/**
 * What is stored for a value: a random text and the value. The whole of it is the version, because that is what the service can
 * compare: revisions and indexes come again in a cluster that was made from a snapshot.
 */
export function storedFor(value: string): string {
  return newVersion() + value
}

export function entryOf(key: string, stored: string): StoreEntry {
  return { key, value: stored.slice(versionLength), version: stored }
}

export function toBase64(text: string): string {
  let letters = ''
  for (const byte of new TextEncoder().encode(text)) letters += String.fromCharCode(byte)
  return btoa(letters)
}

export function fromBase64(text: string): string {
  const letters = atob(text)
  const bytes = new Uint8Array(letters.length)
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i)
  return new TextDecoder().decode(bytes)
}
