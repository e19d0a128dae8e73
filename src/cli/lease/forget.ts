import { hostname } from 'node:os'
import { GraupelError } from '../../core/errors.js'
import { maxWindowMs } from '../../lease/options.js'
import { type LeaseRecord, writeLease } from '../../lease/record.js'
import type { StoreCalls } from '../../stores/calls.js'
import { UsageError } from '../arguments.js'
import { stateOf } from './list.js'
import { type FoundGroup, type FoundNode, isUnreadable, nodeOf, timeOf, type Unreadable } from './records.js'

/** How long attempts at one write may go on. */
const writeMs = 5000
/** A write fails where the holder renews in the moment before it, which does not happen often. */
const maxTries = 5

/** What an operator takes upon himself. */
export interface Leave {
  /** A node that is held may be forgotten. */
  readonly held: boolean
  /** A damaged record may be replaced. */
  readonly damaged: boolean
}

export interface Forgotten {
  /** As it is now. */
  readonly node: FoundNode
  readonly how: 'forgotten' | 'replaced' | 'was released'
  /** The store's time, in milliseconds since 1970. */
  readonly nowMs: number
}

/**
 * Takes a node from its holder. Floor and ceiling stay, so the next holder begins above all that may have been issued, and no id is
 * made twice: a holder that lives after all finds that it has lost the node.
 *
 * @throws UsageError, GraupelError `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`, `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`
 */
export async function forgetNode(calls: StoreCalls, group: FoundGroup, node: number, leave: Leave): Promise<Forgotten> {
  if (node < 0 || node >= group.nodes) {
    throw new UsageError('ERR_NODE_INVALID', `${group.name} has the nodes 0 to ${group.nodes - 1}, and no ${node}`)
  }
  let holder: LeaseRecord | undefined
  for (let tries = 0; tries < maxTries; tries++) {
    const entry = await calls.read(group.group.keyOf(node))
    const nowMs = await timeOf(calls)
    if (entry === undefined) {
      throw new UsageError(
        'ERR_NODE_INVALID',
        `no process has had node ${node} of ${group.name}; see graupel lease list`,
      )
    }
    const found = nodeOf(group, entry)
    if (!isUnreadable(found)) {
      if (found.record.isReleased) return { node: found, how: 'was released', nowMs }
      if (stateOf(found, nowMs) === 'held' && !leave.held) throw isHeld(group, found)
      if (holder !== undefined && holder.token !== found.record.token) throw hasGone(found)
      holder = found.record
    } else if (found.error.code !== 'ERR_STATE_CORRUPT' || !leave.damaged) throw unreadable(found)
    const record = isUnreadable(found) ? freshRecord(group, nowMs) : forgottenRecord(found, nowMs)
    const untilMs = group.group.timeOf(record.ceiling)
    const text = writeLease(group.group, record)
    const written = await calls.write(entry.key, text, entry.version, performance.now() + writeMs)
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
 * With another token, by which its holder sees that it has lost the node. One that is held is free when its window has passed, as
 * ever: had another the node sooner, and a failover forgot that, the former holder could still renew.
 */
function forgottenRecord(found: FoundNode, nowMs: number): LeaseRecord {
  const isReleased = stateOf(found, nowMs) !== 'held'
  const owner = isReleased ? found.record.owner : `${found.record.owner}, forgotten`
  return { ...found.record, owner, token: crypto.randomUUID(), attempt: crypto.randomUUID(), isReleased }
}

/** In place of one that does not say what was issued: above all that can have been. */
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
    `node ${node} has gone to ${record.owner} meanwhile; it was left as it is`,
  )
}

function unreadable({ error: { code, message } }: Unreadable): GraupelError {
  return new GraupelError(code, message)
}
