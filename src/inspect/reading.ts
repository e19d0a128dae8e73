import { type DecodedId, decode, isId, type Layout } from '../layout/index.js'

/** An id as one layout reads it. */
export interface Reading extends DecodedId {
  readonly layout: Layout
}

/** A reading in a layout that was not named. */
export interface Guess extends Reading {
  readonly plausibility: Plausibility
}

const dayMs = 24 * 3_600_000

/**
 * How well a reading fits an id that has just been found, the likeliest first: its time is within a day of
 * now; past; past, but with numbers so high that few ids have them; from before the system made many ids; or
 * further in the future than clocks go wrong.
 */
export const plausibilities = ['recent', 'past', 'unusual', 'early', 'future'] as const
export type Plausibility = (typeof plausibilities)[number]

/**
 * The times at which systems began to make ids, if that was after their epoch: Leaf was published in April
 * 2017, Mastodon in 2016, and the presets of this package in November 2026.
 */
const beganMs = new Map([
  ['leaf', Date.UTC(2017, 3)],
  ['mastodon', Date.UTC(2016, 2)],
  ['js53', Date.UTC(2026, 10)],
  ['wide', Date.UTC(2026, 10)],
])

/**
 * A sequence that does not begin at 0 in each tick: Instagram's is a database's, Mastodon's has a hash, TSID
 * begins at random.
 */
const uncounted = ['instagram', 'mastodon', 'tsid']

export function read(id: bigint, layout: Layout): Reading {
  return { layout, ...decode(id, layout) }
}

/**
 * Nothing in an id says which layout made it. Most ids that are inspected have just been made, and a wrong
 * layout reads a time within a day of now about once in five thousand; few ids are from the first month of a
 * system.
 */
export function plausibilityOf(reading: Reading, nowMs: number): Plausibility {
  const { layout, timestampMs } = reading
  if (timestampMs > nowMs + dayMs) return 'future'
  if (timestampMs >= nowMs - dayMs) return 'recent'
  const { name, epochMs } = layout
  if (timestampMs <= Math.max(epochMs, beganMs.get(name) ?? epochMs) + 30 * dayMs) return 'early'
  return hasHighNumbers(reading) ? 'unusual' : 'past'
}

/**
 * How well a reading of a UUID fits. Each layout reads the same time, so only the sequence is judged: graupel
 * counts it from 0 in each tick, and 15 of 16 UUIDs of other programs have one of its first four bits.
 */
export function plausibilityOfUuid({ layout, sequence }: Reading): Plausibility {
  return sequence >= 2 ** Math.max(layout.sequence.bits - 4, 3) ? 'unusual' : 'past'
}

/**
 * Whether one of the first four bits of a number that counts from 0 is set, as in 15 of 16 readings by a
 * wrong layout.
 */
function hasHighNumbers({ layout, sequence, node }: Reading): boolean {
  const isHigh = (value: number, bits: number) => bits >= 8 && value >= 2 ** (bits - 4)
  // Baidu's workers are numbered as they start.
  if (layout.name === 'baidu' && isHigh(node, layout.nodeBits)) return true
  return !uncounted.includes(layout.name) && isHigh(sequence, layout.sequence.bits)
}

/**
 * Whether the node is as low as Discord's are: Discord numbers its workers and processes from 0. Then the id
 * is likelier Discord's than of another layout that reads a past time, such as Twitter's, whose nodes are
 * spread.
 */
export function isTypical({ layout, fields }: Reading): boolean {
  return layout.name === 'discord' && Object.values<number>(fields).every((value) => value < 8)
}

/**
 * The readings in which the id fits the layout and its time is past, or at most a day ahead, for clocks that
 * are wrong. The most plausible comes first; otherwise the order of `layouts` decides, in which the best
 * known come first.
 */
export function plausibleReadings(id: bigint, layouts: readonly Layout[], nowMs: number): Guess[] {
  return layouts
    .filter((layout) => isId(id, layout))
    .map((layout) => read(id, layout))
    .map((reading) => ({ ...reading, plausibility: plausibilityOf(reading, nowMs) }))
    .filter(({ plausibility }) => plausibility !== 'future')
    .sort((a, b) => rankOf(a) - rankOf(b))
}

function rankOf(guess: Guess): number {
  return plausibilities.indexOf(guess.plausibility) - (isTypical(guess) ? 0.5 : 0)
}

/**
 * The plausibilities of other readings that may be right as well, by the plausibility of the first reading.
 */
const rivalsOf: Readonly<Record<Plausibility, readonly Plausibility[]>> = {
  recent: ['recent'],
  past: ['past', 'unusual'],
  unusual: ['unusual'],
  early: ['early'],
  future: [],
}

/**
 * Returns the first reading if it is the only likely reading: the others are far less plausible, or read the
 * same bits by other names. It is a guess all the same.
 *
 * @param ranked - The likeliest first.
 */
export function onlyLikely<T extends Pick<Guess, 'layout' | 'plausibility'>>(ranked: readonly T[]): T | undefined {
  const [first, ...others] = ranked
  if (first === undefined) return undefined
  const rivals = rivalsOf[first.plausibility]
  const isRival = ({ layout, plausibility }: T) => rivals.includes(plausibility) && !makeSameIds(layout, first.layout)
  return others.some(isRival) ? undefined : first
}

/** Whether equal nodes make equal ids in both. */
export function makeSameIds(a: Layout, b: Layout): boolean {
  const shape = ({ epochMs, tickMs, nodeBits, timestamp, sequence, tagFields }: Layout) => {
    const tags = tagFields.flatMap(({ bits, shift }) => [bits, shift])
    return [epochMs, tickMs, nodeBits, timestamp.bits, timestamp.shift, sequence.bits, sequence.shift, ...tags].join()
  }
  return shape(a) === shape(b)
}
