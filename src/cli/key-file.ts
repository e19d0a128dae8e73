import { closeSync, openSync, readSync } from 'node:fs'
import { rangeError, show } from '../core/errors.js'

/**
 * Reads the keys of a mask or of an opaque kind by their names, in the order of the lines. A key is digits of
 * hex, after `NAME =` if it has a name. No message shows a line, because it may have a key.
 *
 * @param option - The option that names the file, for messages.
 * @throws RangeError `ERR_OPTION_INVALID` if it cannot be read, `ERR_KEY_INVALID`
 */
export function keysIn(file: string, option: string): Record<string, Uint8Array> {
  const keys = new Map<string, Uint8Array>()
  for (const [i, whole] of readText(file, option).split('\n').entries()) {
    // Trimmed before the search, which takes quadratic time on a line of many spaces.
    const line = whole.trim()
    if (line === '' || line.startsWith('#')) continue
    const [, name = '', hex] = /^(?:([^=\s]+)\s*=\s*)?((?:[0-9a-fA-F]{2})+)$/.exec(line) ?? []
    const refuse = (fault: string) =>
      rangeError('ERR_KEY_INVALID', `${option} is ${show(file)}: line ${i + 1} ${fault}`)
    if (hex === undefined) throw refuse('is no key; write 32, 48 or 64 digits of hex, or NAME = and the digits')
    if (keys.has(name)) throw refuse('has the name of a key above it; give each key a name of its own')
    keys.set(name, Uint8Array.from(Buffer.from(hex, 'hex')))
  }
  if (keys.size > 0) return Object.fromEntries(keys)
  throw rangeError('ERR_KEY_INVALID', `${option} is ${show(file)}, which has no key; write one a line`)
}

/** The most bytes that are read: some thousand keys. A device may have no end. */
const maxBytes = 2 ** 18

function readText(file: string, option: string): string {
  const bytes = Buffer.alloc(maxBytes + 1)
  let length = 0
  try {
    const descriptor = openSync(file, 'r')
    try {
      for (let read = 1; read > 0 && length < bytes.length; length += read) {
        read = readSync(descriptor, bytes, length, bytes.length - length, null)
      }
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    // Node's message has the path. A key that was given instead of a path must not get into a log.
    const { code } = error as NodeJS.ErrnoException
    throw rangeError('ERR_OPTION_INVALID', `${option} cannot be read (${code}); give a file with one key a line`)
  }
  if (length <= maxBytes) return bytes.toString('utf8', 0, length)
  throw rangeError(
    'ERR_KEY_INVALID',
    `${option} is ${show(file)}, which has more than ${maxBytes} bytes; give a file with one key a line`,
  )
}
