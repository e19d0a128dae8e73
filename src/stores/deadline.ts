import { errorCodes, GraupelError, show } from '../errors.js'

/** The time that calls take; injected, so that a simulation runs on a clock of its own. */
export interface Timing {
  /** Monotonic milliseconds. */
  monotonicMs(): number
  /** Calls back after `ms`; the result takes that back. */
  later(callback: () => void, ms: number): () => void
}

/** Names a call of a store, for messages. */
export interface CallName {
  readonly call: string
  readonly store: string
}

/**
 * One call of a store, which ends with its deadline or the signal whatever the client does.
 *
 * @throws GraupelError `ERR_STORE_UNAVAILABLE`; a GraupelError of the call; what the signal was aborted with.
 */
export function callWithin<T>(
  { call, store }: CallName,
  timing: Timing,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T> | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const own = new AbortController()
    const settle = (how: () => void) => {
      cancel()
      signal?.removeEventListener('abort', abort)
      how()
    }
    const fail = (reason: string, cause?: unknown) => {
      const text = `${call}() of the store '${store}' ${reason}; try again`
      reject(isOwn(cause) ? cause : new GraupelError('ERR_STORE_UNAVAILABLE', text, { cause }))
    }
    const abort = () => {
      settle(() => reject(signal?.reason))
      own.abort(signal?.reason)
    }
    const cancel = timing.later(() => {
      settle(() => fail(`did not answer within ${timeoutMs} ms`))
      own.abort()
    }, timeoutMs)
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort)
    // Within a promise, because a store of the user's may throw at once.
    Promise.resolve()
      .then(() => run(own.signal))
      .then(
        (value) => settle(() => resolve(value as T)),
        (error) => settle(() => fail(`failed: ${reasonOf(error)}`, error)),
      )
  })
}

/** An error of this package says itself what to do. To look at one of a client may throw, and the call has to end. */
function isOwn(error: unknown): boolean {
  try {
    if (error instanceof GraupelError) return true
    return error instanceof RangeError && Object.hasOwn(errorCodes, (error as { code?: string }).code ?? '')
  } catch {
    return false
  }
}

/** What a client has rejected with, which may be anything: to read its message may throw, and the call has to end. */
function reasonOf(error: unknown): string {
  try {
    const message: unknown = (error as Error | undefined)?.message
    return typeof message === 'string' ? message : show(error)
  } catch {
    return 'with an error that cannot be read'
  }
}
