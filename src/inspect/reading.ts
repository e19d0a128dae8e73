import { type DecodedId, decode, type Layout } from '../layout/index.js'

/** An id as one layout reads it. */
export interface Reading extends DecodedId {
  readonly layout: Layout
}

const dayMs = 24 * 3_600_000

/** Mastodon counts from 1970, and makes such ids since version 2.0. */
const firstIdsMs = new Map([['mastodon', Date.UTC(2017, 9, 1)]])

/**
 * How well a time fits an id that has just been found, the likeliest first: within a day of now, past, in the first month of the
 * layout's epoch, or further in the future than clocks go wrong.
 */
export const plausibilities = ['recent', 'past', 'early', 'future'] as const
export type Plausibility = (typeof plausibilities)[number]

export function read(id: bigint, layout: Layout): Reading {
  return { layout, ...decode(id, layout) }
}

/** Whether the id has no more bits than ids of the layout. */
export function fits(id: bigint, { bits }: Layout): boolean {
  return id >> BigInt(bits) === 0n
}

/**
 * Nothing in an id says which layout made it. Most ids that are inspected have just been made, and a wrong layout reads a time
 * within a day of now about once in five thousand; few ids are from the first month of an epoch.
 */
export function plausibilityOf({ layout, timestampMs }: Reading, nowMs: number): Plausibility {
  if (timestampMs > nowMs + dayMs) return 'future'
  if (timestampMs >= nowMs - dayMs) return 'recent'
  return timestampMs - (firstIdsMs.get(layout.name) ?? layout.epochMs) > 30 * dayMs ? 'past' : 'early'
}

/**
 * The readings in which the id fits the layout and its time is past, or at most a day ahead, for clocks that are wrong. The
 * most plausible comes first; otherwise the order of `layouts` decides, where the best known come first.
 */
export function plausibleReadings(id: bigint, layouts: readonly Layout[], nowMs: number): Reading[] {
  const rank = (reading: Reading) => plausibilities.indexOf(plausibilityOf(reading, nowMs))
  return layouts
    .filter((layout) => fits(id, layout))
    .map((layout) => read(id, layout))
    .filter((reading) => plausibilityOf(reading, nowMs) !== 'future')
    .sort((a, b) => rank(a) - rank(b))
}
