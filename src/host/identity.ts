import { hasGeometry, type KeyClock, parseDescription, parseKey } from '../engine/key.js'
import { type DecodedId, decode, type Layout } from '../layout/index.js'
import { damaged, hasSoundCounter, type Stored } from './format.js'

/** Which ids a page, a claim or a state file is for. */
export interface Ids {
  /** `''` where the name was too long to be kept. */
  readonly layoutName: string
  readonly layout: Layout
  readonly node: number
  readonly fields: Readonly<Record<string, number>>
  readonly namespace: string
  /** By which clock they are made; a state file does not say. */
  readonly clock: KeyClock | undefined
  /** The id at a slot. */
  at(slot: bigint): bigint
  /** When the tick of a slot begins, in milliseconds since 1970. */
  timeMs(slot: bigint): number
}

/** What the latest step of a claim says of ids. */
interface Claimed {
  readonly kind: 'claim'
  readonly key: string
  readonly description: string
  readonly ceiling: bigint
}

/** @throws GraupelError `ERR_STATE_CORRUPT` where key, layout and slots contradict each other. */
export function idsOf(path: string, stored: Stored | Claimed): Ids {
  const key = parseKey(stored.key)
  const description = parseDescription(stored.description)
  if (key === undefined || description === undefined) throw damaged(path, 'it does not say which ids it is for')
  const { nodeBits, namespace, clock } = key
  const { name: layoutName, layout } = description
  const { timestamp, sequence, epochMs, tickMs } = layout
  if (!hasGeometry(key, layout) || (clock === undefined) !== (stored.kind === 'file')) {
    throw damaged(path, 'its key and its layout contradict each other')
  }
  const tickOf = (slot: bigint) => slot >> BigInt(sequence.bits)
  const endSlot = (BigInt(layout.maxTick) + 1n) << BigInt(sequence.bits)
  if (!hasSoundSlots(stored, endSlot, layout.maxTick) || nodeBits >> BigInt(layout.bits) !== 0n) {
    throw damaged(path, 'it has numbers that its layout cannot have')
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

function hasSoundSlots(stored: Stored | Claimed, endSlot: bigint, maxTick: number): boolean {
  if (stored.kind === 'claim') return stored.ceiling <= endSlot
  if (stored.kind === 'file') return [stored.intended, stored.durable, stored.word].every((slot) => slot <= endSlot)
  return hasSoundCounter(stored, { endSlot, maxTick })
}
