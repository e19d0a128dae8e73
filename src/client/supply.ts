import { closedError, GraupelError } from '../core/errors.js'
import { type Clock, endWithin, sleep } from '../core/timing.js'
import { Waiting } from '../generator/turns.js'
import { nextStep } from '../segments/steps.js'
import type { Batch } from './batch.js'
import type { Choice } from './options.js'
import type { Prefetched } from './prefetched.js'
import { CountRefused } from './refusal.js'
import type { Requests } from './request.js'
import type { Server, Servers } from './server.js'

/** The rest of a batch has to last for so many requests. */
const leadRequests = 2

export interface SupplyOptions {
  readonly choice: Choice
  readonly clocks: Clock
  readonly requests: Requests
  readonly servers: Servers
  readonly prefetched: Prefetched
}

/** Fetches a batch while the one before is used, one at a time, and adapts their size. */
export class Supply {
  readonly #options: SupplyOptions
  readonly #waiting = new Waiting()
  readonly #stop = new AbortController()
  #isFetching = false
  #failure: Error | undefined
  /** How many ids are asked for next. */
  #step: number
  #batches = 0
  /** How long a request takes: the last one, or what is left of a longer one before it. */
  #tookMs = 0
  /** When the last batch was added, and how many ids had been handed out by then. */
  #addedMs = 0
  #issuedBefore = 0

  constructor(options: SupplyOptions) {
    this.#options = options
    this.#step = options.choice.count
  }

  /** Why the last attempt to fetch a batch has been given up; `undefined` after one that has not. */
  get failure(): Error | undefined {
    return this.#failure
  }

  get step(): number {
    return this.#step
  }

  get batches(): number {
    return this.#batches
  }

  /** Has the next batch fetched, unless that is under way or there is no room for it. @param wanted - How many ids a call waits for. */
  ask(wanted = 0): void {
    const { prefetched, choice } = this.#options
    if (this.#isFetching || this.#stop.signal.aborted || !prefetched.hasRoom) return
    this.#isFetching = true
    this.#adapt()
    void this.#fetch(Math.min(choice.maxCount, Math.max(this.#step, wanted)))
  }

  /**
   * Settles when a batch was added, or with the failure of the attempt. Keeps the process alive, as nothing else here does.
   *
   * @throws GraupelError as {@link Requests.ask}, `ERR_SERVICE_UNAVAILABLE`, `ERR_CLOSED`
   */
  arrival(wanted: number): Promise<void> {
    const { clocks, choice } = this.#options
    if (this.#stop.signal.aborted) return Promise.reject(closedError(objectOf(this.#options.choice)))
    this.ask(wanted)
    // Now, and not when it is called back: a batch that comes in between would be missed.
    const news = this.#waiting.wait()
    const late = () => {
      const why = this.#options.servers.all.map((server) => server.stats().failure).find((text) => text !== '')
      return new GraupelError(
        'ERR_SERVICE_UNAVAILABLE',
        `no ids came within ${choice.maxWaitMs} ms${why === undefined ? '' : `: ${why}`}`,
      )
    }
    return endWithin(clocks, choice.maxWaitMs, undefined, () => news, late)
  }

  close(): void {
    this.#stop.abort(closedError(objectOf(this.#options.choice)))
    this.#waiting.settle(closedError(objectOf(this.#options.choice)))
  }

  async #fetch(count: number): Promise<void> {
    const { prefetched, clocks } = this.#options
    try {
      const batch = await this.#attempts(count)
      if (this.#stop.signal.aborted) return prefetched.drop(batch.ids.length)
      this.#failure = undefined
      this.#batches++
      this.#tookMs = Math.max(clocks.monotonicMs() - batch.askedMs, this.#tookMs / 2)
      prefetched.leadMs = leadRequests * this.#tookMs
      prefetched.add(batch)
      this.#addedMs = clocks.monotonicMs()
      this.#issuedBefore = prefetched.issued
    } catch (error) {
      if (this.#stop.signal.aborted) return
      this.#failure = error as Error
    }
    this.#isFetching = false
    this.#waiting.settle(this.#failure)
  }

  /** Asks one server after the other, until one gives a batch or too many requests have failed. */
  async #attempts(count: number): Promise<Batch> {
    const { clocks, servers, requests, choice } = this.#options
    const { signal } = this.#stop
    for (let failed = 0; ; ) {
      const server = servers.pick(clocks.monotonicMs())
      const pauseMs = server.notBeforeMs - clocks.monotonicMs()
      // The process may end meanwhile.
      if (pauseMs > 0) await sleep({ later: clocks.background }, pauseMs, signal)
      const asked = Math.min(count, server.maxCount)
      server.asked()
      try {
        const batch = await requests.ask(server, asked, signal)
        this.#checkAge(batch, server)
        server.succeeded()
        return batch
      } catch (error) {
        signal.throwIfAborted()
        // Each time fewer, so this has an end.
        if (error instanceof CountRefused) {
          server.maxCount = error.most
          continue
        }
        server.failed(error as Error, clocks)
        const { code } = error as GraupelError
        const isWorthMore = code === 'ERR_SERVICE_UNAVAILABLE' || code === 'ERR_SERVICE_INVALID'
        if (!isWorthMore || failed++ === choice.retries) throw error
      }
    }
  }

  /** Otherwise a call that waits would find nothing, and ask for more without an end. @throws GraupelError `ERR_SERVICE_UNAVAILABLE` */
  #checkAge(batch: Batch, { url }: Server): void {
    const { prefetched, clocks, choice } = this.#options
    const ageMs = batch.age(clocks.monotonicMs(), clocks.wallMs())
    if (ageMs < choice.maxAgeMs) return
    prefetched.drop(batch.ids.length)
    throw new GraupelError(
      'ERR_SERVICE_UNAVAILABLE',
      `${url} took ${Math.round(ageMs)} ms to answer, and ids are dropped after maxAgeMs, which is ${choice.maxAgeMs}; raise it`,
    )
  }

  /** Sets the next step by how fast ids were used since the last batch came. */
  #adapt(): void {
    const { prefetched, clocks, choice } = this.#options
    // At least a microsecond: a clock may show the same time twice.
    const elapsedMs = Math.max(0.001, clocks.monotonicMs() - this.#addedMs)
    prefetched.perMs = (prefetched.issued - this.#issuedBefore) / elapsedMs
    if (prefetched.perMs === 0) return
    const rule = { least: choice.count, most: choice.maxCount, batchMs: choice.batchMs }
    this.#step = nextStep(this.#step, this.#step / prefetched.perMs, rule)
  }
}

/** Names a client in messages. */
export function objectOf({ urls }: Pick<Choice, 'urls'>): string {
  return `the id client of ${urls.join(', ')}`
}
