import type { Clock } from '../core/timing.js'

/** The longest pause before a server that has failed is asked again. It doubles with each failure in a row; the pause is random. */
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

  failed(error: Error & { retryAfterMs?: number }, { monotonicMs, random }: Clock): void {
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

/** The servers of a service. A server is asked as long as it works. */
export class Servers {
  readonly all: readonly Server[]
  #current: number

  /** @param random - From 0 to below 1; clients begin with different servers. */
  constructor(urls: readonly string[], random: number) {
    this.all = urls.map((url) => new Server(url))
    this.#current = Math.floor(random * urls.length)
  }

  /** Chooses the server to ask: the first, from the present server on, that may be asked now, or else soonest. */
  pick(nowMs: number): Server {
    const { length } = this.all
    const order = this.all.map((_, i) => (this.#current + i) % length)
    const waitMs = (at: number) => Math.max(0, (this.all[at] as Server).notBeforeMs - nowMs)
    this.#current = order.reduce((best, at) => (waitMs(at) < waitMs(best) ? at : best))
    return this.all[this.#current] as Server
  }
}
