import type { GraupelError } from '../core/errors.js'
import type { Clock } from '../core/timing.js'

/**
 * Bounds the random pause before a failed server is asked again. The bound doubles with each failure in a
 * row.
 */
const firstPauseMs = 100
const maxPauseMs = 5000

/** Counts of one server, as {@link ClientStats} has them. */
export interface ServerStats {
  /** Its URL. */
  url: string
  /** Requests that were sent to it. */
  requests: number
  /** Requests that have failed. */
  failures: number
  /** Why the last request has failed; empty after a request that succeeded. */
  failure: string
}

/** One server of the service, and its recent failures. */
export class Server {
  readonly url: string
  /** The most ids that it gives in one answer. */
  maxCount = Infinity
  /** The server is not asked before this time. */
  notBeforeMs = 0
  #requests = 0
  #failures = 0
  #inRow = 0
  #failure = ''

  constructor(url: string) {
    this.url = url
  }

  asked(): void {
    this.#requests++
  }

  succeeded(): void {
    this.#inRow = 0
    this.#failure = ''
    this.notBeforeMs = 0
  }

  failed(error: Pick<GraupelError, 'message' | 'retryAfterMs'>, { monotonicMs, random }: Clock): void {
    const mostMs = Math.min(firstPauseMs * 2 ** this.#inRow, maxPauseMs)
    this.#inRow++
    this.#failures++
    this.#failure = error.message
    this.notBeforeMs = monotonicMs() + Math.max(error.retryAfterMs ?? 0, random() * mostMs)
  }

  stats(): ServerStats {
    return { url: this.url, requests: this.#requests, failures: this.#failures, failure: this.#failure }
  }
}
