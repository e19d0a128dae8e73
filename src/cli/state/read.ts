import { type BigIntStats, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { GraupelError } from '../../core/errors.js'
import { hasSoundCounter, maxBytes, parseState, type Stored } from '../../host/format.js'
import { type Contents, hasCode, readContents } from '../../host/system.js'
import { type DecodedId, decode, type Layout } from '../../layout/index.js'
import { damagedState } from '../../state/errors.js'
import { hasGeometry, type KeyClock, parseDescription, parseKey } from '../../state/key.js'

/** A page or a state file that was read. */
export interface State {
  readonly path: string
  readonly stored: Stored
  readonly ids: Ids
  readonly stats: BigIntStats
}

const maxReadings = 5

/**
 * Reads a page or a state file. Node has no locks, so a record may be read while it is written: a file that
 * seems to be damaged is read again.
 *
 * @throws GraupelError `ERR_STATE_UNAVAILABLE`, `ERR_STATE_UNSAFE`, `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`
 */
export async function readState(path: string, read: (path: string) => Contents = readFileAt): Promise<State> {
  for (let readings = 1; ; readings++) {
    const { bytes, stats } = read(path)
    try {
      const stored = parseState(path, bytes)
      return { path, stored, ids: readIds(path, stored), stats }
    } catch (error) {
      if ((error as GraupelError).code !== 'ERR_STATE_CORRUPT' || readings === maxReadings) throw error
    }
    await sleep(2)
  }
}

/** Lists the names in a folder; none if there is no folder. @throws GraupelError `ERR_STATE_UNAVAILABLE` */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw unreadable(folder, error)
  }
}

/** The error for a file or folder that the system does not let be read. */
export function unreadable(path: string, cause: unknown): GraupelError {
  return new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `${path} cannot be read: ${reasonIn(cause)}; give the path of a page, a claim or a state file that you may read, or no path for a list of your pages`,
    { cause },
  )
}

/** The text of a system's error without the path, which follows the first comma. */
export function reasonIn(error: unknown): string {
  const [reason = ''] = (error as Error).message.split(', ')
  return reason
}

function readFileAt(path: string): Contents {
  try {
    return readContents(path, maxBytes, (stats) => {
      if (stats.isFile()) return
      const kind = stats.isDirectory() ? 'a folder' : 'not a plain file'
      throw new GraupelError('ERR_STATE_UNSAFE', `${path} is ${kind}; give the path of a page or a state file`)
    })
  } catch (error) {
    throw error instanceof GraupelError ? error : unreadable(path, error)
  }
}

/** The ids that a page, a claim or a state file is for. */
export interface Ids {
  /** `''` if the name was too long to be kept. */
  readonly layoutName: string
  readonly layout: Layout
  readonly node: number
  readonly fields: Readonly<Record<string, number>>
  readonly namespace: string
  /** The clock of their generators; a state file does not say. */
  readonly clock: KeyClock | undefined
  /** The id at a slot. */
  at(slot: bigint): bigint
  /** The beginning of a slot's tick, in milliseconds since 1970. */
  timeMs(slot: bigint): number
}

/** The part of a claim's latest link that is about ids. */
interface ClaimedIds {
  readonly kind: 'claim'
  readonly key: string
  readonly description: string
  readonly ceiling: bigint
}

/**
 * Reads the ids of a state. @throws GraupelError `ERR_STATE_CORRUPT` if key, layout and slots contradict each
 * other.
 */
export function readIds(path: string, stored: Stored | ClaimedIds): Ids {
  const damaged = (detail: string) => damagedState(stored.kind === 'file' ? 'state file' : stored.kind, path, detail)
  const key = parseKey(stored.key)
  const description = parseDescription(stored.description)
  if (key === undefined || description === undefined) throw damaged('it does not say which ids it is for')
  const { nodeBits, namespace, clock } = key
  const { name: layoutName, layout } = description
  const { timestamp, sequence, epochMs, tickMs } = layout
  if (!hasGeometry(key, layout) || (clock === undefined) !== (stored.kind === 'file')) {
    throw damaged('its key and its layout contradict each other')
  }
  const tickOf = (slot: bigint) => slot >> BigInt(sequence.bits)
  const endSlot = (BigInt(layout.maxTick) + 1n) << BigInt(sequence.bits)
  if (!hasSoundSlots(stored, endSlot, layout.maxTick) || nodeBits >> BigInt(layout.bits) !== 0n) {
    throw damaged('it has numbers that its layout cannot have')
  }
  const { node, fields } = decode(nodeBits, layout) as DecodedId & { fields: Record<string, number> }
  return {
    layoutName,
    layout,
    node,
    fields,
    namespace,
    clock,
    at: (slot) =>
      (tickOf(slot) << BigInt(timestamp.shift)) |
      nodeBits |
      (BigInt.asUintN(sequence.bits, slot) << BigInt(sequence.shift)),
    timeMs: (slot) => epochMs + Number(tickOf(slot)) * tickMs,
  }
}

function hasSoundSlots(stored: Stored | ClaimedIds, endSlot: bigint, maxTick: number): boolean {
  if (stored.kind === 'claim') return stored.ceiling <= endSlot
  if (stored.kind === 'file') return [stored.intended, stored.durable, stored.word].every((slot) => slot <= endSlot)
  return hasSoundCounter(stored, { endSlot, maxTick })
}
