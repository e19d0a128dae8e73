import { damagedNumbers, readNumbers, writeNumbers } from '../numbers/record.js'
import type { StoreEntry } from '../stores/store.js'

/** What a store holds for segments of one name. */
export interface SegmentRecord {
  /** Every number below it was given to a process, or is skipped. */
  readonly next: bigint
  /** The life of the server in which it was written; empty where the store is durable. */
  readonly incarnation: string
}

/** @param attempt - Random, one for each write, by which a write is known again. */
export function writeSegments(name: string, { next, incarnation }: SegmentRecord, attempt: string): string {
  return writeNumbers('segments', name, { next: String(next), incarnation, attempt })
}

/** @throws GraupelError `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT` */
export function readSegments(entry: StoreEntry, name: string): SegmentRecord {
  const { next, incarnation } = readNumbers<{ next: string; incarnation: string }>(entry, 'segments', name, {
    next: 'string',
    incarnation: 'string',
  })
  if (!/^(0|[1-9][0-9]{0,19})$/.test(next)) throw damagedNumbers(entry.key, `its next is '${next}'`)
  return { next: BigInt(next), incarnation }
}
