import { decode, layouts } from 'graupel'
import { expect } from 'vitest'
import type { Issued } from './processes.ts'

export function total(arrays: readonly BigUint64Array[]): number {
  return arrays.reduce((sum, { length }) => sum + length, 0)
}

export function duplicatesAmong(arrays: readonly BigUint64Array[]): number {
  const all = new BigUint64Array(total(arrays))
  let at = 0
  for (const array of arrays) {
    all.set(array, at)
    at += array.length
  }
  all.sort()
  let duplicates = 0
  for (let i = 1; i < all.length; i++) if (all[i] === all[i - 1]) duplicates++
  return duplicates
}

/** How often an id is not above the one before it. */
export function descentsIn(ids: BigUint64Array): number {
  let descents = 0
  for (let i = 1; i < ids.length; i++) if ((ids[i] as bigint) <= (ids[i - 1] as bigint)) descents++
  return descents
}

/** Whether each id is above the one before it. */
export function isAscending(ids: ArrayLike<bigint>): boolean {
  for (let i = 1; i < ids.length; i++) if ((ids[i] as bigint) <= (ids[i - 1] as bigint)) return false
  return true
}

/**
 * Expects that a generator was refused at its ceiling: it had made no id above, and was not refused before
 * the clock had reached the ceiling.
 */
export function expectRefusedAt(ceilingMs: number | null, { ids, errorMs }: Issued): void {
  if (ids.length > 0) expect(decode(ids.at(-1) as bigint, layouts.twitter).timestampMs).toBeLessThan(ceilingMs ?? 0)
  expect(errorMs).toBeGreaterThanOrEqual(ceilingMs ?? Number.POSITIVE_INFINITY)
}

export function expectAscending(...parts: readonly (readonly bigint[])[]): void {
  expect(isAscending(parts.flat())).toBe(true)
}
