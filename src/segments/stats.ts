/** What {@link SegmentGenerator.stats} returns. */
export interface SegmentStats {
  /** What is numbered. */
  name: string
  /** Name of the store. */
  store: string
  /** Numbers that this generator has made. */
  issued: number
  /** Numbers that can be made without the store, by all threads together and by this generator. */
  left: number
  /** How many are fetched the next time. */
  step: number
  /** Segments that were fetched. */
  segments: number
  /** Attempts to fetch one that have failed. */
  failures: number
  /** Why the last attempt has failed; empty after one that has not. */
  failure: string
}
