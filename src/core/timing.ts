/** Clocks, timers and chance. The platform has the real ones; tests and simulations inject their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  wallMs(): number
  /** Monotonic milliseconds. */
  monotonicMs(): number
  /** Calls back after `ms`; the result cancels that. */
  later(callback: () => void, ms: number): () => void
  /** As `later`, but the process may end meanwhile. */
  background(callback: () => void, ms: number): () => void
  /** A number from 0 to below 1. */
  random(): number
}

/** The longest that a timer can wait; a longer one fires at once (HTML, timers, step 6). */
export const maxTimerMs = 0x7fff_ffff

/** Calls back when the signal is aborted, or at once if it is already; the result cancels that. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) callback()
  else signal?.addEventListener('abort', callback, { once: true })
  return () => signal?.removeEventListener('abort', callback)
}

/**
 * Settles as the work does, or rejects with the reason of the signal if that is aborted first. The work
 * itself continues.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = onAbort(signal, () => reject(signal?.reason))
    work.then(resolve, reject).finally(cancel)
  })
}

/**
 * Runs work until it ends, a deadline passes or a signal is aborted, whichever comes first. A later outcome
 * of the work is dropped.
 *
 * @param run - Gets a signal that is aborted by the deadline, too.
 * @param late - Makes the error of the deadline.
 * @param failed - Makes the error of work that fails.
 */
export function endWithin<T>(
  clock: Pick<Clock, 'later'>,
  deadlineMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T> | T,
  late: () => unknown,
  failed: (error: unknown) => unknown = (error) => error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const own = new AbortController()
    const stop = () => {
      cancelTimer()
      cancelAbort()
    }
    const end = (reason: unknown) => {
      stop()
      reject(reason)
      own.abort(reason)
    }
    const cancelTimer = clock.later(() => end(late()), deadlineMs)
    const cancelAbort = onAbort(signal, () => end(signal?.reason))
    const fail = (error: unknown) => {
      stop()
      reject(failed(error))
    }
    // A function of the user's may throw at once.
    try {
      Promise.resolve(run(own.signal)).then((result) => {
        stop()
        resolve(result)
      }, fail)
    } catch (error) {
      fail(error)
    }
  })
}

/** Waits. @throws the reason of the signal */
export function sleep(clock: Pick<Clock, 'later'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelTimer = clock.later(() => {
      cancelAbort()
      resolve()
    }, ms)
    const cancelAbort = onAbort(signal, () => {
      cancelTimer()
      reject(signal?.reason)
    })
  })
}
