import { isId, type Layout } from 'graupel'
import { onlyLikely, type Plausibility, plausibilities, plausibilityOf, read } from '../../../src/inspect/reading.ts'

/** How one layout reads some ids. */
export interface Candidate {
  readonly layout: Layout
  /** The worst of the readings that make sense; undefined where none does. */
  readonly plausibility: Plausibility | undefined
  /** Ids that make sense to it. */
  readonly count: number
  readonly tooWide: number
  readonly future: number
}

/** The ids that layouts are tried on: all of a few, some of many. */
export function sampleOf(ids: BigUint64Array, most = 200): bigint[] {
  if (ids.length <= most) return [...ids]
  return Array.from({ length: most }, (_, i) => ids[Math.floor((i * (ids.length - 1)) / (most - 1))] as bigint)
}

/** How each layout reads the ids, the likeliest first: most ids that make sense, then the most plausible times. */
export function candidatesOf(ids: readonly bigint[], layouts: readonly Layout[], nowMs: number): Candidate[] {
  const score = ({ count, plausibility }: Candidate) =>
    plausibility === undefined
      ? plausibilities.length
      : (ids.length - count) * 10 + plausibilities.indexOf(plausibility)
  const rank = (candidate: Candidate) => (candidate.count === 0 ? Number.POSITIVE_INFINITY : score(candidate))
  return layouts
    .map((layout) => candidateOf(ids, layout, nowMs))
    .sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)))
}

/** The layout that alone is likely; undefined where several are, or none. @param candidates - The likeliest first. */
export function likelyOf(candidates: readonly Candidate[]): Layout | undefined {
  const most = candidates[0]?.count ?? 0
  const best = candidates.flatMap(({ layout, plausibility, count }) =>
    plausibility !== undefined && count === most ? [{ layout, plausibility }] : [],
  )
  return onlyLikely(best)?.layout
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
  }
}
