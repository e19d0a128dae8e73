import { GraupelError } from '../core/errors.js'
import { type Clock, sleep } from '../core/timing.js'
import type { Batches } from './batches.js'
import type { ResolvedOptions } from './options.js'
import { CountRefused } from './refusal.js'
import { Replays } from './replays.js'
import { Requests } from './request.js'
import type { Batch } from './runs.js'
import { Server } from './server.js'

/** The servers of a service. A server is asked as long as it works. */
export class Servers {
  readonly all: readonly Server[]
  #current: number

  /** @param random - From 0 to below 1; clients begin with different servers. */
  constructor(urls: readonly string[], random: number) {
    this.all = urls.map((url) => new Server(url))
    this.#current = Math.floor(random * urls.length)
  }

  /**
   * Chooses the first server, from the present server on, that may be asked now; otherwise the server that
   * may be asked soonest.
   */
  pick(nowMs: number): Server {
    const { length } = this.all
    const order = this.all.map((_, i) => (this.#current + i) % length)
    const waitMs = (at: number) => Math.max(0, (this.all[at] as Server).notBeforeMs - nowMs)
    this.#current = order.reduce((best, at) => (waitMs(at) < waitMs(best) ? at : best))
    return this.all[this.#current] as Server
  }

  /** Begins with a server, if it is one of these: the token goes to no other. */
  prefer(url: string): void {
    const at = this.all.findIndex((server) => server.url === url)
    if (at >= 0) this.#current = at
  }
}

/** The header by which a server of a strict group names the server that gives the ids. */
const holderHeader = 'graupel-holder'

/** Asks the servers of an id service for batches. */
export class Service {
  readonly #options: ResolvedOptions
  readonly #clock: Clock
  readonly #requests: Requests
  readonly #servers: Servers

  /** @param batches - Each attempt asks for ids above the largest id that they have observed. */
  constructor(options: ResolvedOptions, clock: Clock, batches: Pick<Batches, 'observed' | 'accept' | 'refuse'>) {
    this.#options = options
    this.#clock = clock
    this.#servers = new Servers(options.urls, clock.random())
    this.#requests = new Requests(options, clock, new Replays(options.layout), {
      observed: () => batches.observed,
      accepted: (after) => batches.accept(after),
      tooFarAhead: (after) => batches.refuse(after),
      refused: ({ headers }) => {
        const holder = headers.get(holderHeader)
        if (holder !== null) this.#servers.prefer(holder)
      },
    })
  }

  /**
   * Asks one server after the other, until one gives a batch or too many requests have failed.
   *
   * @param check - Throws if a batch cannot be used.
   * @throws GraupelError as {@link Requests.ask}; what `check` throws; the reason of the signal.
   */
  async fetch(count: number, signal: AbortSignal, check: (batch: Batch, server: Server) => void): Promise<Batch> {
    for (let failed = 0, reduced = 0; ; ) {
      const server = this.#servers.pick(this.#clock.monotonicMs())
      const pauseMs = server.notBeforeMs - this.#clock.monotonicMs()
      // A background timer, so that the process may end meanwhile.
      if (pauseMs > 0) await sleep({ later: this.#clock.background }, pauseMs, signal)
      const asked = Math.min(count, server.maxCount)
      server.asked()
      try {
        const batch = await this.#requests.ask(server, asked, signal)
        check(batch, server)
        server.succeeded()
        return batch
      } catch (error) {
        signal.throwIfAborted()
        const isSmaller = error instanceof CountRefused
        if (isSmaller) server.maxCount = error.most
        // Once for each server. One whose maximum falls with each answer has failed.
        if (isSmaller && reduced++ < this.#servers.all.length) continue
        const { code } = error as GraupelError
        // The server works, and refuses this id alone. So its Retry-After holds no other request back.
        const isAhead = code === 'ERR_CLOCK_SKEW'
        server.failed(isAhead ? { message: (error as Error).message } : (error as Error), this.#clock)
        const isWorthMore = isSmaller || isAhead || code === 'ERR_SERVICE_UNAVAILABLE' || code === 'ERR_SERVICE_INVALID'
        if (isWorthMore && failed++ < this.#options.retries) continue
        if (isAhead) server.notBeforeMs = 0
        throw error
      }
    }
  }

  /** Makes the error of a call that has waited for `maxWaitMs`. */
  late(): GraupelError {
    const why = this.stats().servers.find(({ failure }) => failure)?.failure
    return new GraupelError(
      'ERR_SERVICE_UNAVAILABLE',
      `no ids came within ${this.#options.maxWaitMs} ms${why ? `: ${why}` : ''}`,
    )
  }

  /** Counts the requests to all servers, and to each. */
  stats() {
    const servers = this.#servers.all.map((server) => server.stats())
    const sum = (name: 'requests' | 'failures') => servers.reduce((total, server) => total + server[name], 0)
    return { requests: sum('requests'), failures: sum('failures'), servers }
  }
}
