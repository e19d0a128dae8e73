import type { Layout } from 'graupel'
import {
  isTypical,
  type Plausibility,
  plausibilities,
  plausibilityOf,
  plausibilityOfUuid,
} from '../../../src/inspect/reading.ts'
import { type Given, readingOf } from './uuids.ts'

/** The reading of some ids, or of a UUID, by one layout. */
export interface Candidate {
  readonly layout: Layout
  /** The worst plausible reading; `undefined` if no reading is plausible. */
  readonly plausibility: Plausibility | undefined
  /** Number of ids with a plausible reading. */
  readonly count: number
  /** Number of ids that have more bits than the layout. A UUID counts if it cannot be of the layout. */
  readonly unfit: number
  readonly future: number
  /** Whether the nodes of all ids are such as the system has. */
  readonly isTypical: boolean
}

/** Returns the ids that layouts are tried on: all ids, or a sample of many. */
export function sampleOf(ids: BigUint64Array, most = 200): bigint[] {
  if (ids.length <= most) return [...ids]
  return Array.from({ length: most }, (_, i) => ids[Math.floor((i * (ids.length - 1)) / (most - 1))] as bigint)
}

/**
 * Reads ids, or a UUID, by each layout. Layouts with the most plausible ids come first, then layouts with the
 * most plausible times.
 */
export function candidatesOf(ids: readonly Given[], layouts: readonly Layout[], nowMs: number): Candidate[] {
  const score = ({ count, plausibility, isTypical }: Candidate) =>
    plausibility === undefined
      ? plausibilities.length
      : (ids.length - count) * 10 + plausibilities.indexOf(plausibility) - (isTypical ? 0.5 : 0)
  const rank = (candidate: Candidate) => (candidate.count === 0 ? Number.POSITIVE_INFINITY : score(candidate))
  return layouts
    .map((layout) => candidateOf(ids, layout, nowMs))
    .sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)))
}

/**
 * Returns the likeliest layout, or `undefined` if no layout makes sense. @param candidates - The likeliest
 * first.
 */
export function likeliestOf([first]: readonly Candidate[]): Layout | undefined {
  return first === undefined || first.count === 0 ? undefined : first.layout
}

function candidateOf(ids: readonly Given[], layout: Layout, nowMs: number): Candidate {
  const isUuid = typeof ids[0] === 'string'
  const fitting = ids.map((id) => readingOf(id, layout)).filter((reading) => reading !== undefined)
  const found = fitting
    .map((reading) => (isUuid ? plausibilityOfUuid(reading) : plausibilityOf(reading, nowMs)))
    .filter((found) => found !== 'future')
  const worst = Math.max(...found.map((one) => plausibilities.indexOf(one)))
  return {
    layout,
    plausibility: plausibilities[worst],
    count: found.length,
    unfit: ids.length - fitting.length,
    future: fitting.length - found.length,
    isTypical: !isUuid && fitting.every(isTypical),
  }
}
