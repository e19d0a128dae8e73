/** How many numbers are fetched, and when. */
export interface Steps {
  /** The first time; `undefined`: as many as the table says. */
  readonly first: number | undefined
  /** The fewest; `undefined`: as many as the first time. */
  readonly least: number | undefined
  readonly most: number
  /** How long a segment should last. */
  readonly batchMs: number
  /** Which part of a segment is used when the next one is fetched. */
  readonly prefetchAt: number
  /** The next one is fetched at the latest when the rest lasts for this time. */
  readonly leadMs: number
}

/**
 * The next step, by Leaf's rule: doubled where a segment lasted less than it should, halved where it lasted twice as long.
 *
 * @param lastedMs - How long a segment of the present step lasts.
 */
export function nextStep(
  step: number,
  lastedMs: number,
  { least, most, batchMs }: Pick<Steps, 'least' | 'most' | 'batchMs'>,
): number {
  if (lastedMs < batchMs) return Math.min(step * 2, most)
  if (lastedMs >= 2 * batchMs) return Math.max(Math.floor(step / 2), least ?? step)
  return step
}

/**
 * After how many numbers of a segment the next is fetched.
 *
 * @param count - How many it has.
 * @param perMs - How many are used in a millisecond; 0 where that is not known.
 */
export function fetchAt(
  count: number,
  perMs: number,
  { prefetchAt, leadMs }: Pick<Steps, 'prefetchAt' | 'leadMs'>,
): number {
  return Math.floor(Math.max(0, Math.min(count * prefetchAt, count - perMs * leadMs)))
}
