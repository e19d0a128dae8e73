/** What a generator knows of where its numbers come from: the store itself, or another thread that has it. */
export interface Supply {
  /** Has the next segment fetched, unless that is under way or there is no room for it. */
  ask(): void
  /**
   * Settles when numbers were added, or with the failure of an attempt to fetch some.
   *
   * @throws Error of the store; GraupelError `ERR_CLOSED`
   */
  arrival(): Promise<void>
  /** Why the last attempt has failed; `undefined` after one that has not. */
  readonly failure: Error | undefined
  close(): void
}

/** Names a segment generator in messages. */
export function objectOf(name: string): string {
  return `the segment generator '${name}'`
}
