import { type DecodedId, decode, defineLayout, type Field, type Layout } from '../index.js'
import { damaged, type Stored } from './state-format.js'

/** Which ids a page, a claim or a state file is for. */
export interface Ids {
  /** Its name is `''` where that was too long to be kept. */
  readonly layoutName: string
  readonly layout: Layout
  readonly node: number
  readonly fields: Readonly<Record<string, number>>
  readonly namespace: string
  /** Whose clock makes them; a state file does not say. */
  readonly clock: 'real' | 'injected' | undefined
  /** The id at a slot. */
  at(slot: bigint): bigint
  /** When the tick of a slot begins, in milliseconds since 1970. */
  timeMs(slot: bigint): number
}

/** The clock, of pages and claims; epoch, tick, bits and shift of timestamp and sequence; the node's bits; the namespace. */
const keyPattern = /^(?:(real|injected) )?(-?\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (.+)$/s

/** What a claim says of ids, by its latest step. */
interface Claimed {
  readonly kind: 'claim'
  readonly key: string
  readonly description: string
  readonly ceiling: bigint
}

/** @throws GraupelError `ERR_STATE_CORRUPT` where key, layout and slots contradict each other. */
export function idsOf(path: string, stored: Stored | Claimed): Ids {
  const match = keyPattern.exec(stored.key)
  const description = parseDescription(stored.description)
  if (match === null || description === undefined) throw damaged(path, 'it does not say which ids it is for')
  const { layoutName, layout } = description
  const { timestamp, sequence, epochMs, tickMs } = layout
  const numbers = [epochMs, tickMs, timestamp.bits, timestamp.shift, sequence.bits, sequence.shift]
  const nodeBits = BigInt(match[8] as string)
  const saysClock = match[1] !== undefined
  if (numbers.join(' ') !== match.slice(2, 8).join(' ') || saysClock === (stored.kind === 'file')) {
    throw damaged(path, 'its key and its layout contradict each other')
  }
  const sequenceBits = BigInt(sequence.bits)
  const tickOf = (slot: bigint) => slot >> sequenceBits
  const maxTick = BigInt(layout.maxTick)
  const isWithin = (slot: bigint) => slot === 0n || tickOf(slot - 1n) <= maxTick
  const isSound = () => {
    if (stored.kind === 'claim') return isWithin(stored.ceiling)
    if (stored.kind === 'file') return [stored.intended, stored.durable, stored.word].every(isWithin)
    return (stored.isSealed || isWithin(stored.word)) && stored.highTick <= maxTick
  }
  if (!isSound() || nodeBits >> BigInt(layout.bits) !== 0n) {
    throw damaged(path, 'it has numbers that its layout cannot have')
  }
  const { node, fields } = decode(nodeBits, layout) as DecodedId & { fields: Record<string, number> }
  return {
    layoutName,
    layout,
    node,
    fields,
    namespace: match[9] as string,
    clock: match[1] as 'real' | 'injected' | undefined,
    at: (slot) =>
      (tickOf(slot) << BigInt(timestamp.shift)) |
      nodeBits |
      (BigInt.asUintN(sequence.bits, slot) << BigInt(sequence.shift)),
    timeMs: (slot) => epochMs + Number(tickOf(slot)) * tickMs,
  }
}

function parseDescription(text: string): { layoutName: string; layout: Layout } | undefined {
  try {
    const { name, ...rest } = JSON.parse(text)
    if (typeof name !== 'string') return undefined
    // Every layout has a name, but one that is very long is not kept.
    return { layoutName: name, layout: defineLayout<readonly Field[]>({ ...rest, name: name || 'unnamed' }) }
  } catch {
    return undefined
  }
}
