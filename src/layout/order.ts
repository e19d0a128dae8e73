import { rangeError } from '../core/errors.js'
import type { Layout } from './layout.js'

/**
 * Checks that ids of a layout sort by time. Otherwise a later id may be smaller than an id that was
 * observed. @throws RangeError `ERR_LAYOUT_INVALID`. @internal
 */
export function checkOrder({ name, placements }: Layout): void {
  const [top] = placements
  if (top?.name === 'timestamp') return
  throw rangeError(
    'ERR_LAYOUT_INVALID',
    `ids of layout '${name}' begin with the ${top?.name} and do not sort by time, so no id is larger than all observed ones; use a layout that begins with the timestamp`,
  )
}

/** The default of `maxAheadMs`: how far ids may be ahead of the clock, in milliseconds. @internal */
export function usualAheadMs({ tickMs }: Layout): number {
  return Math.max(1000, 2 * tickMs)
}
