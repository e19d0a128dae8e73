import { platform } from '#platform'
import { GraupelError, show } from '../core/errors.js'
import type { StoreEntry } from './store.js'

/** The format of the records that this version reads and writes. */
export const recordFormat = 1

/** The folder of the groups' records. */
export const groupsFolder = 'groups/'

/** The beginning of the folders of scratch records. */
const scratchFolder = 'contract-'

/** Makes the name of a folder for scratch records, which nobody else has. */
export function newScratchFolder(): string {
  return `${scratchFolder}${newVersion()}/`
}

/**
 * Returns the first text after all keys of a folder, so that the index finds their range: in ASCII, '0'
 * follows '/'.
 */
export function endOf(folder: string): string {
  return `${folder.slice(0, -1)}0`
}

/** The rules by which a record is read. */
export interface RecordRules<T> {
  /** The type of each property; numbers have to be safe integers. */
  readonly types: Record<keyof T & string, 'string' | 'number' | 'boolean' | 'object'>
  /** Makes the error of a record that cannot be read. */
  damaged(key: string, reason: string, cause?: unknown): GraupelError
  /** Refuses the record of something else. */
  checkOwner(found: Record<string, unknown>): void
}

/**
 * Reads a record that is written as JSON. A record of another program is never overwritten, because its
 * meaning is not known.
 *
 * @throws GraupelError `ERR_STATE_MISMATCH` if it has another format; the errors of the rules.
 */
export function parseRecord<T>(entry: StoreEntry, { types, damaged, checkOwner }: RecordRules<T>): T {
  const { key, value, damage } = entry
  if (damage !== undefined) throw damaged(key, damage)
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
  // Not `Object.entries`, which takes half of the time of a record.
  for (const name of Object.keys(types) as (keyof T & string)[]) {
    const type: string = types[name]
    const of = found[name]
    const isFine = typeof of === type && of !== null && (type !== 'number' || Number.isSafeInteger(of))
    if (!isFine) throw damaged(key, `its ${name} is ${show(of)}`)
  }
  return found as T
}

/**
 * Makes the version of a write. It is random: a counter begins again if the database is emptied or restored
 * from a copy, and a repeated version would let a write land on a record that its writer has never seen. It
 * has 122 random bits (RFC 9562, version 4).
 */
export function newVersion(): string {
  return randomUuid()
}

/**
 * Takes a UUID of Linux if there is one, because Node loads its `crypto` in half the time of a first
 * `acquireLease`. Does not call `crypto.randomUUID`, because Node draws many UUIDs in advance: if the program
 * has called it while a startup snapshot was built, all processes that start from the snapshot draw the same
 * ones.
 */
function randomUuid(): string {
  const made = platform.systemUuid?.()
  if (made !== undefined) return made
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/**
 * Makes a text that no other write has, by which a writer recognises its own record.
 *
 * @param monotonicMs - The time, because a cloned machine draws the same random numbers for a while.
 */
export function tokenAt(monotonicMs: number): string {
  return `${randomUuid()} ${monotonicMs}`
}

/**
 * The folder of the records of segments and of counters. It is shared, so a name cannot have segments and a
 * counter at once.
 */
export const numbersFolder = 'numbers/'

/** The kind of numbers that a record counts. */
export type NumberKind = 'segments' | 'counter'

/** Returns the key of the record of a checked name. */
export function keyOf(name: string): string {
  return numbersFolder + encodeURIComponent(name)
}

/** Decodes percent signs. A text that is not encoded correctly stays as it is. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Writes a record as text. */
export function writeNumbers(kind: NumberKind, name: string, record: object): string {
  return JSON.stringify({ format: recordFormat, kind, name, ...record })
}

/**
 * Reads the record of a name.
 *
 * @throws GraupelError `ERR_STATE_MISMATCH` if the name has numbers of another kind, or the record has
 * another format; `ERR_STATE_CORRUPT` if the record cannot be read. Such a record is never overwritten.
 */
export function readNumbers<T>(entry: StoreEntry, kind: NumberKind, name: string, types: RecordRules<T>['types']): T {
  return parseRecord<T>(entry, {
    types,
    damaged: damagedNumbers,
    checkOwner(found) {
      if (found.kind === kind && found.name === name) return
      throw new GraupelError(
        'ERR_STATE_MISMATCH',
        `the record ${entry.key} has kind ${show(found.kind)} and name ${show(found.name)}, not kind '${kind}' and name ${show(name)}; choose another name, prefix or table`,
      )
    },
  })
}

/** Makes the error of a record that does not say which numbers were given. */
export function damagedNumbers(key: string, reason: string, cause?: unknown): GraupelError {
  return new GraupelError(
    'ERR_STATE_CORRUPT',
    `the record ${key} is damaged: ${reason}; the numbers that were given are not known, so it is not overwritten: find the last number, and begin a new name with a later 'start'`,
    { cause },
  )
}
