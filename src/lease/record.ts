import { GraupelError, show } from '../core/errors.js'
import { parseRecord, type RecordRules, recordFormat } from '../stores/record.js'
import type { StoreEntry } from '../stores/store.js'
import type { Group } from './group.js'

/** The last millisecond that a Date can hold (ECMAScript 21.4.1.1); every layout ends before. */
const maxDateMs = 8.64e15

/** What a store holds for one node: whose it is, and from which tick to which. */
export interface LeaseRecord {
  /** For people: who holds it, such as `host/1234`. */
  readonly owner: string
  /** Random, one for each lease. */
  readonly token: string
  /** Random, one for each write, by which a write is told from the same one of a cloned machine. */
  readonly attempt: string
  /** No id of the holder has an earlier tick. */
  readonly floor: number
  /** No id of the holder, or of any before it, has this tick or a later one. Never falls below the floor. */
  readonly ceiling: number
  /** The holder has given the node back. */
  readonly isReleased: boolean
  /** How far ahead the holder sets the ceiling. */
  readonly windowMs: number
}

/** What a store holds for a group: how its records are read, which life of the server was seen, and since when. */
export interface GroupRecord {
  /** How many nodes its layout has. */
  readonly nodes: number
  readonly epochMs: number
  readonly tickMs: number
  /** Empty where the store is durable: it has one life. */
  readonly incarnation: string
  /** The store's time when it was seen first, in milliseconds since 1970; 0 until that is said, and on a durable store. */
  readonly sinceMs: number
  readonly attempt: string
}

/** A record as text. `ids` says which ids it is for. */
export function writeRecord(ids: string, record: LeaseRecord | GroupRecord): string {
  return JSON.stringify({ format: recordFormat, ids, ...record })
}

/** The record of a node as text, with the time of its ceiling for people. */
export function writeLease(group: Group, record: LeaseRecord): string {
  const noted = { ...record, until: new Date(group.timeOf(record.ceiling)).toISOString() }
  return writeRecord(group.ids, noted)
}

/** @throws GraupelError as {@link parseRecord}; `ERR_STATE_CORRUPT` */
export function readLease(entry: StoreEntry, group: Pick<Group, 'ids' | 'timeOf'>): LeaseRecord {
  const record = parse<LeaseRecord>(entry, group.ids, damagedLease, {
    owner: 'string',
    token: 'string',
    attempt: 'string',
    floor: 'number',
    ceiling: 'number',
    isReleased: 'boolean',
    windowMs: 'number',
  })
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
        `the record ${entry.key} is for the ids ${show(found.ids)}, and this lease for ${show(ids)}; use another prefix or table`,
      )
    },
  })
}

/** The error of a record that does not say what was issued on its node. */
function damagedLease(key: string, reason: string, cause?: unknown): GraupelError {
  const text = `the record ${key} is damaged: ${reason}; it is not written over, because it is not known what was issued: graupel lease forget GROUP NODE --damaged replaces it by one that is free an hour later`
  return new GraupelError('ERR_STATE_CORRUPT', text, { cause })
}

/** The error of a group's record, which says nothing of what was issued. */
export function damagedGroup(key: string, reason: string, cause?: unknown): GraupelError {
  const text = `the record ${key} is damaged: ${reason}; find out what has written it, and remove it: the next process that acquires a lease writes another`
  return new GraupelError('ERR_STATE_CORRUPT', text, { cause })
}
