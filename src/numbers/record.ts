import { GraupelError, show } from '../core/errors.js'
import { parseRecord, type RecordRules, recordFormat } from '../stores/record.js'
import type { StoreEntry } from '../stores/store.js'

/** What numbers a name has in a store. */
export type NumberKind = 'segments' | 'counter'

/** A record as text. */
export function writeNumbers(kind: NumberKind, name: string, record: object): string {
  return JSON.stringify({ format: recordFormat, kind, name, ...record })
}

/**
 * Reads the record of a name.
 *
 * @throws GraupelError `ERR_STATE_MISMATCH` where the name has numbers of another kind, or another format; `ERR_STATE_CORRUPT` where it
 * cannot be read. Neither is written over.
 */
export function readNumbers<T>(entry: StoreEntry, kind: NumberKind, name: string, types: RecordRules<T>['types']): T {
  return parseRecord<T>(entry, {
    types,
    damaged: damagedNumbers,
    checkOwner(found) {
      if (found.kind === kind && found.name === name) return
      throw new GraupelError(
        'ERR_STATE_MISMATCH',
        `the record ${entry.key} is of kind ${show(found.kind)} and name ${show(found.name)}, and kind '${kind}' and name ${show(name)} were asked for; choose another name, prefix or table`,
      )
    },
  })
}

/** The error of a record that does not say which numbers were given. */
export function damagedNumbers(key: string, reason: string, cause?: unknown): GraupelError {
  const text = `the record ${key} is damaged: ${reason}; it is not written over, because it is not known which numbers were given: find out the last one, and begin a new name with a later 'start'`
  return new GraupelError('ERR_STATE_CORRUPT', text, { cause })
}
