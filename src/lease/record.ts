import { GraupelError, show } from '../core/errors.js'
import { parseRecord, type RecordRules, recordFormat } from '../stores/record.js'
import type { StoreEntry } from '../stores/store.js'
import type { Group } from './group.js'

/** The last millisecond that a Date can hold (ECMAScript 21.4.1.1). Every layout ends before. */
const maxDateMs = 8.64e15

/** The record of one node: its owner, and the ticks that the owner may use. */
export interface LeaseRecord {
  /** The holder for people, such as `host/1234`. */
  readonly owner: string
  /** A random text for each lease. */
  readonly token: string
  /** A random text for each write. It tells a write from the write of a cloned machine. */
  readonly attempt: string
  /** No id of the holder has an earlier tick. */
  readonly floor: number
  /** No id of this holder, or of an earlier holder, has this tick or a later tick. Never below the floor. */
  readonly ceiling: number
  /** The holder has given the node back. */
  readonly isReleased: boolean
  /** The window of the holder, by which its ceiling is ahead of the store's clock. */
  readonly windowMs: number
}

/**
 * The record of a group: how to read its nodes' records. If the store may forget, each shard has a copy of
 * it, with the life of the server that was seen, and the time since when.
 */
export interface GroupRecord {
  /** How many nodes its layout has. */
  readonly nodes: number
  readonly epochMs: number
  readonly tickMs: number
  /** Empty in the record of the group. */
  readonly incarnation: string
  /**
   * The store's time at which this life was first seen, in milliseconds since 1970; 0 until it is known, and
   * in the record of the group.
   */
  readonly sinceMs: number
  readonly attempt: string
}

/** Writes a record as text. @param ids - The ids that the record is for. */
export function writeRecord(ids: string, record: LeaseRecord | GroupRecord): string {
  return JSON.stringify({ format: recordFormat, ids, ...record })
}

/** Writes the record of a node as text, with the time of its ceiling for people. */
export function writeLease(group: Group, record: LeaseRecord): string {
  const until = new Date(group.timeOf(record.ceiling)).toISOString()
  return JSON.stringify({ format: recordFormat, ids: group.ids, ...record, until })
}

const leaseTypes = {
  owner: 'string',
  token: 'string',
  attempt: 'string',
  floor: 'number',
  ceiling: 'number',
  isReleased: 'boolean',
  windowMs: 'number',
} as const

/** @throws GraupelError as {@link parseRecord}; `ERR_STATE_CORRUPT` */
export function readLease(entry: StoreEntry, group: Pick<Group, 'ids' | 'timeOf'>): LeaseRecord {
  const record = parse<LeaseRecord>(entry, group.ids, damagedLease, leaseTypes)
  const { floor, ceiling } = record
  if (floor < 0 || ceiling < floor || group.timeOf(ceiling) > maxDateMs) {
    throw damagedLease(entry.key, `its floor is ${floor}, and its ceiling is ${ceiling}`)
  }
  return record
}

/** @throws GraupelError as {@link parseRecord}; `ERR_STATE_CORRUPT` */
export function readGroup(entry: StoreEntry, ids: string): GroupRecord {
  return parse<GroupRecord>(entry, ids, damagedGroup, {
    nodes: 'number',
    epochMs: 'number',
    tickMs: 'number',
    incarnation: 'string',
    sinceMs: 'number',
    attempt: 'string',
  })
}

function parse<T>(entry: StoreEntry, ids: string, damaged: typeof damagedLease, types: RecordRules<T>['types']): T {
  return parseRecord<T>(entry, {
    types,
    damaged,
    checkOwner(found) {
      if (found.ids === ids) return
      throw new GraupelError(
        'ERR_STATE_MISMATCH',
        `the record ${entry.key} is for the ids ${show(found.ids)}, and this lease is for ${show(ids)}; use another prefix or table`,
      )
    },
  })
}

/** Makes the error of a record that does not say which ids of its node were issued. */
function damagedLease(key: string, reason: string, cause?: unknown): GraupelError {
  const text = `the record ${key} is damaged: ${reason}; it is kept, because the ids that were issued are not known: graupel lease forget GROUP NODE --damaged frees the node after an hour`
  return new GraupelError('ERR_STATE_CORRUPT', text, { cause })
}

/** Makes the error of a group's record, which says nothing about ids that were issued. */
export function damagedGroup(key: string, reason: string, cause?: unknown): GraupelError {
  const text = `the record ${key} is damaged: ${reason}; remove it, and the next process that acquires a lease writes another`
  return new GraupelError('ERR_STATE_CORRUPT', text, { cause })
}
