import { type DecodedId, decode, type Layout } from '../layout/index.js'

/** An id as one layout reads it. */
export interface Reading extends DecodedId {
  readonly layout: Layout
}

const dayMs = 24 * 3_600_000

export function read(id: bigint, layout: Layout): Reading {
  return { layout, ...decode(id, layout) }
}

/**
 * The readings in which the id fits the layout and its time is past, or at most a day ahead, for clocks that are wrong. The
 * most plausible comes first.
 *
 * Nothing in an id says which layout made it. Most ids that are inspected have just been made, and a wrong layout reads a time
 * within a day of now about once in five thousand; few ids are from the first month of an epoch. Otherwise the order of
 * `layouts` decides, where the best known come first.
 */
export function plausibleReadings(id: bigint, layouts: readonly Layout[], nowMs: number): Reading[] {
  return layouts
    .filter(({ bits }) => id >> BigInt(bits) === 0n)
    .map((layout) => read(id, layout))
    .filter(({ timestampMs }) => timestampMs <= nowMs + dayMs)
    .sort((a, b) => rank(a, nowMs) - rank(b, nowMs))
}

function rank({ layout, timestampMs }: Reading, nowMs: number): number {
  if (Math.abs(nowMs - timestampMs) <= dayMs) return 0
  return timestampMs - layout.epochMs > 30 * dayMs ? 1 : 2
}
