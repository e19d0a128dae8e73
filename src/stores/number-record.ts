import { GraupelError, show } from '../core/errors.js'
import { parseRecord, type RecordRules, recordFormat } from './record.js'
import type { StoreEntry } from './store.js'

/** The folder of the records of segments and counters. They share it, so that neither takes a record of the other for its own. */
const numbersFolder = 'numbers/'

/** The kind of numbers that a record counts. */
export type NumberKind = 'segments' | 'counter'

/** Returns the key of the record of a name that was checked. */
export function keyOf(name: string): string {
  return numbersFolder + encodeURIComponent(name)
}

/** Writes a record as text. */
export function writeNumbers(kind: NumberKind, name: string, record: object): string {
  return JSON.stringify({ format: recordFormat, kind, name, ...record })
}

/**
 * Reads the record of a name.
 *
 * @throws GraupelError `ERR_STATE_MISMATCH` if the name has numbers of another kind, or the record has another format;
 * `ERR_STATE_CORRUPT` if the record cannot be read. Such a record is never overwritten.
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
