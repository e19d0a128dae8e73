/** The time that calls take; injected, so that a simulation runs on a clock of its own. */
export interface Timing {
  /** Monotonic milliseconds. */
  monotonicMs(): number
  /** Calls back after `ms`; the result takes that back. */
  later(callback: () => void, ms: number): () => void
}

/** What a promise rejects with. */
interface Reasons {
  /** Where the deadline has come first. */
  late(): unknown
  /** Where the call has failed. */
  failed(error: unknown): unknown
}

/** Runs a call that ends with its deadline or the signal, whatever the call itself does. What it comes to later is dropped. */
export function endWithin<T>(
  timing: Pick<Timing, 'later'>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T> | undefined,
  { late, failed }: Reasons,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const own = new AbortController()
    const settle = (how: () => void) => {
      cancel()
      signal?.removeEventListener('abort', abort)
      how()
    }
    const abort = () => {
      settle(() => reject(signal?.reason))
      own.abort(signal?.reason)
    }
    const cancel = timing.later(() => {
      settle(() => reject(late()))
      own.abort()
    }, timeoutMs)
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort)
    // Within a promise, because a function of the user's may throw at once.
    Promise.resolve()
      .then(() => run(own.signal))
      .then(
        (value) => settle(() => resolve(value as T)),
        (error) => settle(() => reject(failed(error))),
      )
      // Where `failed` itself has failed, by an error that is a strange object.
      .catch(reject)
  })
}
