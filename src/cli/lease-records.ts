import { hostname } from 'node:os'
import { type ErrorCode, GraupelError } from '../core/errors.js'
import { Group, lifeName, shardNodes } from '../lease/group.js'
import { maxWindowMs } from '../lease/options.js'
import { damagedGroup, type LeaseRecord, readGroup, readLease, writeLease } from '../lease/record.js'
import type { StoreCalls } from '../stores/calls.js'
import { groupsFolder } from '../stores/record.js'
import type { StoreEntry } from '../stores/store.js'
import { UsageError } from './arguments.js'

/** A group of a store, with the nodes that its layout has. */
export interface FoundGroup {
  readonly name: string
  readonly namespace: string
  readonly nodes: number
  readonly group: Group
}

/** A record that cannot be read: damaged, of another version, or for other ids. */
export interface Unreadable {
  readonly name: string
  readonly error: { readonly code: ErrorCode; readonly message: string }
}

/** A node with a record. */
export interface FoundNode {
  readonly name: string
  readonly node: number
  readonly record: LeaseRecord
  readonly entry: StoreEntry
  /** The time of its ceiling, in milliseconds since 1970. */
  readonly untilMs: number
}

/** `held` until the ceiling; then `expired`, unless the holder has released the node. */
type NodeState = 'held' | 'expired' | 'released'

export function stateOf({ record, untilMs }: FoundNode, nowMs: number): NodeState {
  if (record.isReleased) return 'released'
  return untilMs > nowMs ? 'held' : 'expired'
}

export function isUnreadable(found: object): found is Unreadable {
  return 'error' in found
}

function readGroupOf(entry: StoreEntry): FoundGroup | Unreadable {
  const name = nameIn(entry.key)
  return readable(name, () => {
    const ids = idsIn(entry.value)
    const { nodes, epochMs, tickMs } = readGroup(entry, ids)
    if (nodes < 1 || tickMs < 1) throw damagedGroup(entry.key, `it has ${nodes} nodes, and ticks of ${tickMs} ms`)
    // The record does not say when the layout expires.
    const layout = { nodes, epochMs, tickMs, maxTick: Number.MAX_SAFE_INTEGER - 1 }
    const all = { count: nodes, at: (index: number) => index, has: (node: number) => node < nodes }
    const group = new Group(name, ids, layout, all)
    return { name, namespace: group.namespace, nodes, group }
  })
}

function readNodeOf({ group, nodes }: FoundGroup, entry: StoreEntry): FoundNode | Unreadable {
  const name = nameIn(entry.key)
  return readable(name, () => {
    const node = Number(name)
    if (!/^(0|[1-9][0-9]*)$/.test(name) || node >= nodes || group.keyOf(node) !== entry.key) {
      throw new GraupelError('ERR_STATE_MISMATCH', `the record ${entry.key} belongs to none of the ${nodes} nodes`)
    }
    const record = readLease(entry, group)
    const untilMs = group.timeOf(record.ceiling)
    return { name, node, record, entry, untilMs }
  })
}

/** Reads all groups of a store, sorted by name. */
export async function groupsIn(calls: StoreCalls): Promise<(FoundGroup | Unreadable)[]> {
  return (await calls.list(groupsFolder)).map(readGroupOf).sort(byName)
}

/**
 * Reads the nodes of a group that have records, one shard after the other.
 *
 * @param progress - Receives how many nodes were looked through.
 */
export async function nodesIn(
  calls: StoreCalls,
  found: FoundGroup,
  progress: (nodes: number) => void = () => {},
): Promise<(FoundNode | Unreadable)[]> {
  const all: (FoundNode | Unreadable)[] = []
  for (let first = 0; first < found.nodes; first += shardNodes) {
    const { group } = found
    const listed = await calls.list(group.folderOf(group.shardOf(first)))
    const entries = listed.filter(({ key }) => nameIn(key) !== lifeName)
    all.push(...entries.map((entry) => readNodeOf(found, entry)).sort(byName))
    progress(Math.min(first + shardNodes, found.nodes))
  }
  return all
}

/** Reads the clock of the store, or the local clock if the store has none; milliseconds since 1970. */
export async function readTime(calls: StoreCalls): Promise<number> {
  return (await calls.nowMs()) ?? Date.now()
}

/** Compares names, numbers among them by their value. */
function byName(a: { name: string }, b: { name: string }): number {
  return a.name.localeCompare(b.name, 'en', { numeric: true })
}

function nameIn(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

/** Returns the ids that a record names. If a record names none, readGroup() finds the fault. */
function idsIn(value: string): string {
  try {
    const { ids } = JSON.parse(value)
    return typeof ids === 'string' ? ids : ''
  } catch {
    return ''
  }
}

function readable<T>(name: string, read: () => T): T | Unreadable {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof GraupelError)) throw error
    return { name, error: { code: error.code, message: error.message } }
  }
}

const writeMs = 5000
/** A write fails if the holder renews between the read and the write, which is rare. */
const maxTries = 5

/** The nodes that the operator allows to be forgotten, beside those that are free. */
export interface Leave {
  /** A node that is held may be forgotten. */
  readonly held: boolean
  /** A damaged record may be replaced. */
  readonly damaged: boolean
}

export interface Forgotten {
  /** The node after the call. */
  readonly node: FoundNode
  readonly how: 'forgotten' | 'replaced' | 'was released'
  /** The store's time, in milliseconds since 1970. */
  readonly nowMs: number
}

/**
 * Takes a node from its holder. Floor and ceiling stay, so the next holder begins above every id that may
 * have been issued. If the holder still runs, it notices that it has lost the node.
 *
 * @throws UsageError, GraupelError `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`, `ERR_STORE_UNAVAILABLE`,
 * `ERR_STORE_INVALID`
 */
export async function forgetNode(calls: StoreCalls, group: FoundGroup, node: number, leave: Leave): Promise<Forgotten> {
  if (node < 0 || node >= group.nodes) {
    throw new UsageError('ERR_NODE_INVALID', `the node is ${node}; ${group.name} has the nodes 0 to ${group.nodes - 1}`)
  }
  let holder: LeaseRecord | undefined
  for (let tries = 0; tries < maxTries; tries++) {
    const entry = await calls.read(group.group.keyOf(node))
    const nowMs = await readTime(calls)
    if (entry === undefined) {
      throw new UsageError(
        'ERR_NODE_INVALID',
        `no process has had node ${node} of ${group.name}; see graupel lease list`,
      )
    }
    const found = readNodeOf(group, entry)
    if (!isUnreadable(found)) {
      if (found.record.isReleased) return { node: found, how: 'was released', nowMs }
      if (stateOf(found, nowMs) === 'held' && !leave.held) throw isHeld(group, found)
      if (holder !== undefined && holder.token !== found.record.token) throw hasGone(found)
      holder = found.record
    } else if (found.error.code !== 'ERR_STATE_CORRUPT' || !leave.damaged) throw unreadable(found)
    const record = isUnreadable(found) ? freshRecord(group, nowMs) : forgottenRecord(found, nowMs)
    const untilMs = group.group.timeOf(record.ceiling)
    const text = writeLease(group.group, record)
    const written = await calls.write(entry.key, text, entry.version, writeMs)
    if (!written.landed) continue
    return {
      node: { name: `${node}`, node, record, entry, untilMs },
      how: isUnreadable(found) ? 'replaced' : 'forgotten',
      nowMs,
    }
  }
  throw new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    `the record of node ${node} of ${group.name} was written by others ${maxTries} times in a row; try again`,
  )
}

/**
 * Returns the record with a new token, by which the holder notices that it has lost the node. A node that is
 * held stays held until its window has passed. If another process had it sooner, and a failover forgot that,
 * the former holder could still renew.
 */
function forgottenRecord(found: FoundNode, nowMs: number): LeaseRecord {
  const isReleased = stateOf(found, nowMs) !== 'held'
  const owner = isReleased ? found.record.owner : `${found.record.owner}, forgotten`
  return { ...found.record, owner, token: crypto.randomUUID(), attempt: crypto.randomUUID(), isReleased }
}

/** Returns a record to replace a damaged one, above every id that can have been issued. */
function freshRecord({ group }: FoundGroup, nowMs: number): LeaseRecord {
  const tick = group.tickAt(nowMs + maxWindowMs) + 1
  return {
    owner: `${hostname()}/${process.pid}`,
    token: crypto.randomUUID(),
    attempt: crypto.randomUUID(),
    floor: tick,
    ceiling: tick,
    isReleased: true,
    windowMs: maxWindowMs,
  }
}

function isHeld({ name }: FoundGroup, { node, record, untilMs }: FoundNode): UsageError {
  const until = new Date(untilMs).toISOString()
  return new UsageError(
    'ERR_OPTION_INVALID',
    `node ${node} of ${name} is held by ${record.owner} until ${until}; give --yes if that process is gone for good, or wait until then`,
  )
}

function hasGone({ node, record }: FoundNode): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    `${record.owner} has taken node ${node} meanwhile; nothing was changed`,
  )
}

function unreadable({ error: { code, message } }: Unreadable): GraupelError {
  return new GraupelError(code, message)
}
