import type { Layout } from 'graupel'
import { sortsByTime } from './facts.ts'

/**
 * The order of a new layout's ids among an old layout's ids of the same time or before. Times are
 * milliseconds since 1970.
 */
export type Order =
  | { readonly kind: 'unordered'; readonly layouts: readonly Layout[] }
  /** Holds for the whole time in which both layouts can make ids. */
  | { readonly kind: 'above' | 'below' }
  | { readonly kind: 'above from' | 'below from'; readonly ms: number }
  | { readonly kind: 'apart in time' }

/**
 * Compares the smallest new id with the largest old id of the same moment, over the time in which both
 * layouts make ids.
 */
export function orderOf(old: Layout, next: Layout): Order {
  const unordered = [old, next].filter((layout) => !sortsByTime(layout))
  if (unordered.length > 0) return { kind: 'unordered', layouts: unordered }
  const fromMs = Math.max(old.epochMs, next.epochMs)
  const toMs = Math.min(old.expiresAt.getTime(), next.expiresAt.getTime()) - 1
  if (fromMs > toMs) return { kind: 'apart in time' }
  const isAbove = (ms: number) => smallestAt(next, ms) > largestAt(old, ms)
  const first = isAbove(fromMs)
  const last = isAbove(toMs)
  if (first === last) return { kind: first ? 'above' : 'below' }
  // Both grow evenly, except for the width of a tick, so the order changes at one time.
  let before = fromMs
  let after = toMs
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (isAbove(middle) === first) before = middle
    else after = middle
  }
  return { kind: first ? 'below from' : 'above from', ms: after }
}

/**
 * Returns the first moment from which every new id is larger than an old id.
 *
 * @returns undefined if there is no such moment, also because the new layout does not sort by time
 */
export function firstMsAbove(next: Layout, largestOld: bigint): number | undefined {
  if (!sortsByTime(next)) return undefined
  const tick = Number((largestOld >> BigInt(next.timestamp.shift)) + 1n)
  return tick > next.maxTick ? undefined : next.epochMs + tick * next.tickMs
}

function tickAt({ epochMs, tickMs }: Layout, ms: number): bigint {
  return BigInt(Math.floor((ms - epochMs) / tickMs))
}

function smallestAt(layout: Layout, ms: number): bigint {
  return tickAt(layout, ms) << BigInt(layout.timestamp.shift)
}

function largestAt(layout: Layout, ms: number): bigint {
  return ((tickAt(layout, ms) + 1n) << BigInt(layout.timestamp.shift)) - 1n
}
