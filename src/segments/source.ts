/** Numbers `first`, `first + stride`, and so on. Never given to another. */
export interface Segment {
  readonly first: bigint
  /** How many; at least 1. */
  readonly count: number
}

/** Where segments come from. */
export interface SegmentSource {
  /** Names the store, for messages: `redis`. */
  readonly name: string
  /**
   * Takes up to `count` numbers, or as many as the table says; fewer where the range ends. Where it rejects, what was taken is not given again.
   *
   * @throws RangeError `ERR_SEGMENT_OVERFLOW`; GraupelError as {@link StoreCalls}, `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT`; what the
   * signal was aborted with.
   */
  take(count: number | undefined, signal?: AbortSignal): Promise<Segment>
}
