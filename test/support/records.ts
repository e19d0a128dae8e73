import { readdirSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

// Files of ids, as test/host/programs/record.js writes them.

const idBytes = 8

/**
 * Reads the ids that processes have appended to `file`, and to files whose names begin with the name of
 * `file`.
 */
export function recordsOf(file: string): BigUint64Array[] {
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(basename(file)))
    .map((name) => readIds(join(dirname(file), name)))
}

export function readIds(file: string): BigUint64Array {
  const bytes = readFileSync(file)
  // A process that was killed in the middle of an append leaves a part of an id.
  const whole = bytes.length - (bytes.length % idBytes)
  return new BigUint64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + whole))
}

/** Cuts a partial id off the end of a file that other processes append to. Returns the number of ids. */
export function mendEnd(file: string): number {
  const whole = Math.floor(statSync(file).size / idBytes)
  truncateSync(file, whole * idBytes)
  return whole
}
