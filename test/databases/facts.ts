import { composeId, type DecodedId, decode, encodeId, type Layout, layouts } from 'graupel'
import { randomFrom } from '../support/random.ts'
import { tableOf } from './document.ts'

/** An id that is no JavaScript number: the nearest number is smaller by 1. */
export const id = 1541815603606036481n

/** Names the value that a driver returned for {@link id}, in the words of the document. */
export function nameOf(value: unknown): string {
  if (value === id) return 'bigint'
  if (value === `${id}`) return 'string'
  if (value === Number(id)) return 'rounded number'
  return `something else: ${typeof value} ${String(value)}`
}

/** Two ids in base62 that differ only in case. */
export const pair = ['1ptWyK4WgZV', '1ptWyK4WgZv'] as const

/** Returns the first moment at which an id of a layout is at least `least`. */
export function firstTimeOf(least: bigint, layout: Layout): Date {
  const tick = ((least - 1n) >> BigInt(layout.timestamp.shift)) + 1n
  return new Date(layout.epochMs + Number(tick) * layout.tickMs)
}

/**
 * Returns ids from the whole life of a layout that a signed column holds. They end in 2240, because
 * PostgreSQL's to_timestamp takes a double, which rounds microseconds from 2^33 seconds on.
 */
export function idsOf(layout: Layout): bigint[] {
  const random = randomFrom(17)
  const end = Math.min(layout.expiresAt.getTime(), firstTimeOf(2n ** 63n, layout).getTime(), Date.UTC(2240, 0))
  return Array.from({ length: 300 }, () => {
    const timestampMs = layout.epochMs + random() * (end - layout.epochMs)
    const [node, sequence] = [layout.nodes, 2 ** layout.sequence.bits].map((count) => Math.floor(random() * count))
    const drawn = layout.tagFields.map(({ name, bits }) => [name, Math.floor(random() * 2 ** bits)])
    const tags = drawn.length === 0 ? {} : { tags: Object.fromEntries(drawn) }
    return composeId({ timestampMs, node, sequence, ...tags } as Parameters<typeof composeId>[0], layout)
  })
}

/** Ids of the default layout, and their times. */
export const idsWithTimes = new Map(
  idsOf(layouts.twitter).map((id) => [id, (decode(id, layouts.twitter) as DecodedId).timestamp]),
)

/** The text encodings except decimal. */
export const textEncodings = ['hex', 'base32', 'base58', 'base62'] as const

/** Returns ids in ascending order. In an encoding with both cases, some of them differ only in case. */
export function encoded(encoding: (typeof textEncodings)[number]): string[] {
  return Array.from({ length: 2000 }, (_, index) => encodeId(id + BigInt(index), encoding))
}

/** Returns the cells of the document about an encoding under collations. */
export function collationsOf(encoding: string): { insensitive: string | undefined; language: string | undefined } {
  const [, cells = []] = [...tableOf('encoding | width')].find(([names]) => names.split(', ').includes(encoding)) ?? []
  return { insensitive: cells[1], language: cells[2] }
}
