import { decode, type Layout } from 'graupel'

/** A step of a computation: its formula, and its result. */
export interface Step {
  readonly formula: string
  readonly value: bigint
}

/** Returns how an id is made: the ticks since the epoch, each part at its place, and all of them together. */
export function making(id: bigint, layout: Layout): Step[] {
  const { epochMs, tickMs, timestamp, placements } = layout
  const nowMs = BigInt(decode(id, layout).timestampMs)
  const parts = placements.map(({ name, bits, shift }) => ({ name, shift, value: partOf(id, bits, shift) }))
  const formula = tickMs === 1 ? 'now − epoch' : `(now − epoch) ÷ ${tickMs}`
  return [
    { formula: 'now', value: nowMs },
    { formula: 'epoch', value: BigInt(epochMs) },
    { formula: `timestamp = ${formula}`, value: partOf(id, timestamp.bits, timestamp.shift) },
    ...parts.filter(({ name }) => name !== 'timestamp').map(({ name, value }): Step => ({ formula: name, value })),
    ...parts
      .filter(({ shift }) => shift > 0)
      .map(({ name, shift, value }): Step => ({ formula: `${name} << ${shift}`, value: value << BigInt(shift) })),
    {
      formula: `id = ${parts.map(({ name, shift }) => (shift > 0 ? `${name} << ${shift}` : name)).join(' | ')}`,
      value: id,
    },
  ]
}

/** Returns how an id is taken apart: each part is shifted to the end and masked, and the epoch is added. */
export function takingApart(id: bigint, layout: Layout): Step[] {
  const { epochMs, tickMs, placements } = layout
  const steps = placements.flatMap(({ name, bits, shift }): Step[] => {
    const mask = `0x${((1n << BigInt(bits)) - 1n).toString(16)}`
    const shifted = { formula: `id >> ${shift}`, value: id >> BigInt(shift) }
    const masked = {
      formula: `${name} = ${shift > 0 ? `id >> ${shift}` : 'id'} & ${mask}`,
      value: partOf(id, bits, shift),
    }
    return shift > 0 ? [shifted, masked] : [masked]
  })
  const time = {
    formula: `timestamp ${tickMs === 1 ? '' : `× ${tickMs} `}+ epoch`,
    value: BigInt(decode(id, layout).timestampMs),
  }
  return [{ formula: 'id', value: id }, ...steps, { formula: 'epoch', value: BigInt(epochMs) }, time]
}

function partOf(id: bigint, bits: number, shift: number): bigint {
  return BigInt.asUintN(bits, id >> BigInt(shift))
}

/** Writes a number in hexadecimal, with a minus in front of a negative number. */
export function hexOf(value: bigint): string {
  return value < 0n ? `−0x${(-value).toString(16)}` : `0x${value.toString(16)}`
}

/** Writes the bits of a number without leading zeros, a negative number in two's complement of 64 bits. */
export function bitsOf(value: bigint): string {
  return BigInt.asUintN(64, value).toString(2)
}
