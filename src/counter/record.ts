import { GraupelError, show } from '../core/errors.js'
import { damagedNumbers, readNumbers, writeNumbers } from '../stores/record.js'
import type { StoreEntry } from '../stores/store.js'
import { isPeriod, type Reset } from './period.js'

/**
 * How many writers a record remembers. A writer that is forgotten before it knows the outcome of its write
 * may leave a gap. With 64 writers and the longest name, a record has less than the 4 096 characters of a
 * value.
 */
const maxWriters = 64

/** The rules that all processes share which count under one name. */
export interface CounterRules {
  readonly name: string
  readonly key: string
  readonly reset: Reset
  readonly offsetMinutes: number
  /** The first count of each period. */
  readonly start: number
}

/** The position of a counter. */
export interface Position {
  readonly period: string
  /** The last count of the period that was given. */
  readonly count: number
}

/** The record that a store holds for a counter. */
export interface CounterRecord extends Position {
  readonly reset: Reset
  /** `UTC` if the counter is never reset, because it has no boundaries then. */
  readonly timeZone: string
  readonly start: number
  /**
   * Each writer with its last write that has landed, in one text; the latest first. They tell a writer
   * whether its write has landed.
   */
  readonly writers: readonly string[]
}

/** Writes a record as text. */
export function writeCounter(rules: CounterRules, { period, count }: Position, writers: readonly string[]): string {
  const { name, reset, start } = rules
  const record: CounterRecord = { reset, timeZone: zoneOf(rules), start, period, count, writers }
  return writeNumbers('counter', name, record)
}

/**
 * Reads the record of a counter.
 *
 * @throws GraupelError `ERR_STATE_MISMATCH` if the record belongs to something else, or to a counter with
 * other rules; `ERR_STATE_CORRUPT`
 */
export function readCounter(entry: StoreEntry, rules: CounterRules): CounterRecord {
  const { name, key, reset, start } = rules
  const record = readNumbers<CounterRecord>(entry, 'counter', name, {
    reset: 'string',
    timeZone: 'string',
    start: 'number',
    period: 'string',
    count: 'number',
    writers: 'object',
  })
  if (record.reset !== reset || record.timeZone !== zoneOf(rules) || record.start !== start) {
    throw new GraupelError(
      'ERR_STATE_MISMATCH',
      `the counter of the record ${key} has ${told(record)}, and this process asks for ${told({ reset, start, timeZone: zoneOf(rules) })}; pass the same to all processes, or choose another name`,
    )
  }
  const { period, count, writers } = record
  if (!isPeriod(period, reset)) throw damagedNumbers(key, `its period is ${show(period)}`)
  if (count < start) throw damagedNumbers(key, `its count is ${count}, and it starts at ${start}`)
  if (!Array.isArray(writers) || writers.some((writer) => typeof writer !== 'string')) {
    throw damagedNumbers(key, 'its writers are no list of texts')
  }
  return record
}

/** Returns the writers after a write. */
export function addWriter(writers: readonly string[], writer: string, attempt: string): string[] {
  const others = writers.filter((other) => !other.startsWith(`${writer} `))
  return [`${writer} ${attempt}`, ...others].slice(0, maxWriters)
}

/** Returns the last write of a writer that has landed, by the record. */
export function attemptOf(writers: readonly string[], writer: string): string | undefined {
  return writers.find((other) => other.startsWith(`${writer} `))?.slice(writer.length + 1)
}

/** Returns whether the first position is further than the second. */
export function isLater(one: Position, other: Position): boolean {
  return one.period === other.period ? one.count > other.count : one.period > other.period
}

function zoneOf({ reset, offsetMinutes }: CounterRules): string {
  if (reset === 'never' || offsetMinutes === 0) return 'UTC'
  const [hours, minutes] = [Math.floor(Math.abs(offsetMinutes) / 60), Math.abs(offsetMinutes) % 60]
  const digits = [hours, minutes].map((part) => String(part).padStart(2, '0'))
  return `${offsetMinutes < 0 ? '-' : '+'}${digits.join(':')}`
}

function told({ reset, timeZone, start }: Pick<CounterRecord, 'reset' | 'timeZone' | 'start'>): string {
  return `reset ${show(reset)}, timeZone ${show(timeZone)} and start ${start}`
}
