import { isId, type Layout } from 'graupel'
import { isTypical, type Plausibility, plausibilities, plausibilityOf, read } from '../../../src/inspect/reading.ts'

/** The reading of some ids by one layout. */
export interface Candidate {
  readonly layout: Layout
  /** The worst plausible reading; `undefined` if no reading is plausible. */
  readonly plausibility: Plausibility | undefined
  /** Number of ids with a plausible reading. */
  readonly count: number
  readonly tooWide: number
  readonly future: number
  /** Whether the nodes of all ids are such as the system has. */
  readonly isTypical: boolean
}

/** Returns the ids that layouts are tried on: all ids, or a sample of many. */
export function sampleOf(ids: BigUint64Array, most = 200): bigint[] {
  if (ids.length <= most) return [...ids]
  return Array.from({ length: most }, (_, i) => ids[Math.floor((i * (ids.length - 1)) / (most - 1))] as bigint)
}

/** Reads the ids by each layout. Layouts with the most plausible ids come first, then layouts with the most plausible times. */
export function candidatesOf(ids: readonly bigint[], layouts: readonly Layout[], nowMs: number): Candidate[] {
  const score = ({ count, plausibility, isTypical }: Candidate) =>
    plausibility === undefined
      ? plausibilities.length
      : (ids.length - count) * 10 + plausibilities.indexOf(plausibility) - (isTypical ? 0.5 : 0)
  const rank = (candidate: Candidate) => (candidate.count === 0 ? Number.POSITIVE_INFINITY : score(candidate))
  return layouts
    .map((layout) => candidateOf(ids, layout, nowMs))
    .sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)))
}

/** Returns the likeliest layout, or `undefined` if no layout makes sense. @param candidates - The likeliest first. */
export function likeliestOf([first]: readonly Candidate[]): Layout | undefined {
  return first === undefined || first.count === 0 ? undefined : first.layout
}

function candidateOf(ids: readonly bigint[], layout: Layout, nowMs: number): Candidate {
  const fitting = ids.filter((id) => isId(id, layout))
  const found = fitting.map((id) => plausibilityOf(read(id, layout), nowMs)).filter((found) => found !== 'future')
  const worst = Math.max(...found.map((one) => plausibilities.indexOf(one)))
  return {
    layout,
    plausibility: plausibilities[worst],
    count: found.length,
    tooWide: ids.length - fitting.length,
    future: fitting.length - found.length,
    isTypical: fitting.every((id) => isTypical(read(id, layout))),
  }
}
