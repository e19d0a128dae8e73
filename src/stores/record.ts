import { GraupelError, show } from '../core/errors.js'
import type { StoreEntry } from './store.js'

/** The format of the records that this version reads and writes. */
export const recordFormat = 1

/** The rules by which a record is read. */
export interface RecordRules<T> {
  /** The type of each property; numbers have to be safe integers. */
  readonly types: Record<keyof T & string, 'string' | 'number' | 'boolean' | 'object'>
  /** The error of a record that cannot be read. */
  damaged(key: string, reason: string, cause?: unknown): GraupelError
  /** Refuses the record of something else. */
  checkOwner(found: Record<string, unknown>): void
}

/**
 * Reads a record that is written as JSON. One that is not ours is never written over: what it stands for is not known.
 *
 * @throws GraupelError `ERR_STATE_MISMATCH` where it has another format; what the rules throw.
 */
export function parseRecord<T>({ key, value }: StoreEntry, { types, damaged, checkOwner }: RecordRules<T>): T {
  let found: Record<string, unknown>
  try {
    found = JSON.parse(value)
  } catch (cause) {
    throw damaged(key, `${show(value)} is no JSON`, cause)
  }
  if (typeof found !== 'object' || found === null || typeof found.format !== 'number') {
    throw damaged(key, `${show(value)} has no format`)
  }
  if (found.format !== recordFormat) {
    throw new GraupelError(
      'ERR_STATE_MISMATCH',
      `the record ${key} has format ${found.format}, and this version of graupel reads format ${recordFormat}; use one version for all processes that share it`,
    )
  }
  checkOwner(found)
  for (const [name, type] of Object.entries<string>(types)) {
    const of = found[name]
    const isFine = typeof of === type && of !== null && (type !== 'number' || Number.isSafeInteger(of))
    if (!isFine) throw damaged(key, `its ${name} is ${show(of)}`)
  }
  return found as T
}

/**
 * Makes the version of a write. It is random: a counter begins again if the database is emptied or restored from a copy, and a
 * version that comes twice would let a write land on a record that its writer has never seen. 122 bits (RFC 9562, version 4).
 */
export function newVersion(): string {
  return crypto.randomUUID()
}

/**
 * Makes a text that no other write has, so that a writer finds out whether a record is its own.
 *
 * @param monotonicMs - The time: a machine that was cloned draws the same random numbers for a while.
 */
export function tokenAt(monotonicMs: number): string {
  return `${crypto.randomUUID()} ${monotonicMs}`
}
