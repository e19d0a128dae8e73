import { isId, type Layout } from 'graupel'
import { IdSet } from '../../../src/inspect/id-set.ts'
import { type EqualIds, equalIds, rangesOf } from '../../../src/inspect/overlap.ts'
import { read } from '../../../src/inspect/reading.ts'

/** Equal ids that are shown. */
const shownEqual = 5

/** A time between two ids that stand one after the other; `at` is the place of the second, from 0. */
interface Gap {
  readonly ms: number
  readonly at: number
}

/** What several ids say together. */
export interface Summary {
  /** Ids that the layout can hold, in their order. */
  readonly set: IdSet
  readonly tooWide: number
  /** Ids that are smaller than the one before. */
  readonly stepsBack: number
  /** The place of the first of them, from 0. */
  readonly firstStepBack: number | undefined
  readonly shortest: Gap | undefined
  readonly longest: Gap | undefined
  readonly equal: EqualIds
  readonly nodes: readonly (readonly [first: number, last: number])[]
}

/** Looks at all ids in a layout, and yields the part that is done. */
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
