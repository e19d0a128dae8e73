import { type ErrorCode, GraupelError } from '../../core/errors.js'
import { Group, groupsFolder, shardNodes } from '../../lease/group.js'
import { damagedGroup, type LeaseRecord, readGroup, readLease } from '../../lease/record.js'
import type { StoreCalls } from '../../stores/calls.js'
import type { StoreEntry } from '../../stores/store.js'

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
  /** When its ceiling is reached, in milliseconds since 1970. */
  readonly untilMs: number
}

export function isUnreadable(found: object): found is Unreadable {
  return 'error' in found
}

function groupOf(entry: StoreEntry): FoundGroup | Unreadable {
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

export function nodeOf({ group, nodes }: FoundGroup, entry: StoreEntry): FoundNode | Unreadable {
  const name = nameIn(entry.key)
  return readable(name, () => {
    const node = Number(name)
    if (!/^(0|[1-9][0-9]*)$/.test(name) || node >= nodes || group.keyOf(node) !== entry.key) {
      throw new GraupelError('ERR_STATE_MISMATCH', `the record ${entry.key} is of none of the ${nodes} nodes`)
    }
    const record = readLease(entry, group)
    const untilMs = group.timeOf(record.ceiling)
    return { name, node, record, entry, untilMs }
  })
}

/** All groups of a store, by name. */
export async function groupsIn(calls: StoreCalls): Promise<(FoundGroup | Unreadable)[]> {
  return (await calls.list(groupsFolder)).map(groupOf).sort(byName)
}

/**
 * The nodes of a group that have records, one shard after the other.
 *
 * @param progress - Is told how many nodes were looked through.
 */
export async function nodesIn(
  calls: StoreCalls,
  found: FoundGroup,
  progress: (nodes: number) => void = () => {},
): Promise<(FoundNode | Unreadable)[]> {
  const all: (FoundNode | Unreadable)[] = []
  for (let first = 0; first < found.nodes; first += shardNodes) {
    const { group } = found
    const entries = await calls.list(group.folderOf(group.shardOf(first)))
    all.push(...entries.map((entry) => nodeOf(found, entry)).sort(byName))
    progress(Math.min(first + shardNodes, found.nodes))
  }
  return all
}

/** What the clock of the store shows, or the local one where it has none; milliseconds since 1970. */
export async function timeOf(calls: StoreCalls): Promise<number> {
  return (await calls.nowMs()) ?? Date.now()
}

/** Numbers by their value. */
function byName(a: { name: string }, b: { name: string }): number {
  return a.name.localeCompare(b.name, 'en', { numeric: true })
}

function nameIn(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

/** For which ids a record says that it is; what is wrong with one that does not say it is found where it is read. */
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
