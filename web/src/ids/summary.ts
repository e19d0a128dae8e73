import { isId, type Layout } from 'graupel'
import { type EqualIds, equalIds, IdSet, rangesOf } from '../../../src/inspect/overlap.ts'
import { read } from '../../../src/inspect/reading.ts'

/** Number of equal ids that are shown. */
const shownEqual = 5

/** The time between two neighbouring ids. `at` is the index of the second. */
interface Gap {
  readonly ms: number
  readonly at: number
}

/** Facts about several ids together. */
export interface Summary {
  /** The ids that the layout can hold, in their order. */
  readonly set: IdSet
  readonly tooWide: number
  /** Number of ids that are smaller than the id before. */
  readonly stepsBack: number
  /** The index of the first step back. */
  readonly firstStepBack: number | undefined
  readonly shortest: Gap | undefined
  readonly longest: Gap | undefined
  readonly equal: EqualIds
  readonly nodes: readonly (readonly [first: number, last: number])[]
}

/** Summarizes ids of a layout, and yields its progress. */
export function* summarize(ids: BigUint64Array, layout: Layout): Generator<number, Summary> {
  const set = new IdSet('', layout)
  let tooWide = 0
  let stepsBack = 0
  let firstStepBack: number | undefined
  let shortest: Gap | undefined
  let longest: Gap | undefined
  let before: bigint | undefined
  let beforeMs = 0
  for (const [at, id] of ids.entries()) {
    if ((at & 255) === 255) yield at / ids.length
    if (!isId(id, layout)) {
      tooWide++
      continue
    }
    set.add(id)
    const { timestampMs } = read(id, layout)
    if (before !== undefined) {
      if (id < before) {
        stepsBack++
        firstStepBack ??= at
      }
      const ms = timestampMs - beforeMs
      if (shortest === undefined || ms < shortest.ms) shortest = { ms, at }
      if (longest === undefined || ms > longest.ms) longest = { ms, at }
    }
    before = id
    beforeMs = timestampMs
  }
  const equal = equalIds([set], shownEqual)
  return { set, tooWide, stepsBack, firstStepBack, shortest, longest, equal, nodes: rangesOf(set.nodes) }
}
