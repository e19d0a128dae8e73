import { errorCodes, GraupelError, show } from '../core/errors.js'
import { endWithin, type Timing } from '../core/timing.js'

export type { Timing }

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
  callTimeoutMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T> | undefined,
): Promise<T> {
  const failure = (reason: string, cause?: unknown) =>
    new GraupelError('ERR_STORE_UNAVAILABLE', `${call}() of the store '${store}' ${reason}; try again`, { cause })
  return endWithin(timing, callTimeoutMs, signal, run, {
    late: () => failure(`did not answer within ${callTimeoutMs} ms`),
    failed: (error) => (isOwn(error) ? error : failure(`failed: ${reasonOf(error)}`, error)),
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
