import { GraupelError, reasonOf } from '../core/errors.js'
import { type Clock, endWithin } from '../core/timing.js'
import { presentGeneration } from '../numbers/generation.js'
import { type Answer, type Asked, invalid, readRuns } from './answer.js'
import { checkToken, type ResolvedOptions } from './options.js'
import { refusalOf } from './refusal.js'
import type { Replays } from './replays.js'
import { Batch, type Runs, runsType } from './runs.js'
import type { Server } from './server.js'

type Extras = { readonly cache?: 'no-store'; readonly credentials?: 'omit' }
let extras: Extras | undefined

/**
 * Returns properties that workerd would refuse, if the platform has them. Called late, because `Request`
 * makes Node load its `fetch`.
 */
function knownExtras(): Extras {
  const { prototype = {} } = Object(globalThis.Request) as { prototype?: object }
  extras ??= {
    ...('cache' in prototype && { cache: 'no-store' }),
    ...('credentials' in prototype && { credentials: 'omit' }),
  }
  return extras
}

/** The part of a client that its requests call. */
interface RequestingClient {
  /** Returns the largest id that was observed; -1n if none was. */
  observed(): bigint
  /** A server has given ids above an observed id. */
  accepted(after: bigint): void
  /** A server gives no ids above an observed id. */
  tooFarAhead(after: bigint): void
  /** Gets each answer without ids. */
  refused(answer: Answer): void
}

/** The requests of one client. */
export class Requests {
  readonly #options: ResolvedOptions
  readonly #clocks: Clock
  readonly #replays: Replays
  readonly #client: RequestingClient
  readonly #path: string
  /** The parameters that all requests have. */
  readonly #query: string

  constructor(options: ResolvedOptions, clocks: Clock, replays: Replays, client: RequestingClient) {
    this.#options = options
    this.#clocks = clocks
    this.#replays = replays
    this.#client = client
    const { layout, segment } = options
    this.#path = segment === undefined ? '/v1/ids' : `/v1/segments/${encodeURIComponent(segment)}`
    // Views of the client choose the tags.
    const needed = (layout?.tagFields ?? []).filter(({ isRequired }) => isRequired)
    const tags = needed.map(({ name }) => `&tag.${encodeURIComponent(name)}=0`).join('')
    this.#query = layout === undefined ? '' : `&layout=${encodeURIComponent(layout.name)}${tags}`
  }

  /**
   * Asks a server once. An answer that comes after the deadline or the signal is dropped.
   *
   * @throws GraupelError `ERR_SERVICE_UNAVAILABLE`, `ERR_SERVICE_INVALID`, `ERR_SERVICE_REFUSED`,
   * `ERR_CLOCK_SKEW`; CountRefused; TypeError, RangeError `ERR_OPTION_INVALID` of the token; the
   * reason of the signal.
   */
  async ask(server: Server, count: number, signal: AbortSignal): Promise<Batch> {
    const { callTimeoutMs } = this.#options
    const askedMs = this.#clocks.monotonicMs()
    const askedWallMs = this.#clocks.wallMs()
    const generation = presentGeneration()
    const after = this.#client.observed()
    const fail = (reason: string, cause?: unknown) =>
      new GraupelError('ERR_SERVICE_UNAVAILABLE', `${server.url} ${reason}`, { cause })
    let token: string | undefined
    const runs = await endWithin(
      { later: this.#clocks.background },
      callTimeoutMs,
      signal,
      async (own) => {
        try {
          return await this.#exchange(server, count, after, own, (given) => {
            token = given
          })
        } catch (error) {
          if (isOwn(error)) throw error
          const reason = reasonOf(error)
          const shown = token === undefined ? reason : reason.replaceAll(token, '***')
          throw fail(`cannot be reached: ${shown}`, error)
        }
      },
      () => fail(`did not answer within ${callTimeoutMs} ms`),
    )
    if (runs.first(0) <= after) {
      throw invalid(server.url, `begins with ${runs.first(0)}, and ids above ${after} were asked for`)
    }
    // Only now, because the answer of a request that was given up must not be remembered.
    const fault = this.#replays.refuse(runs.first(0), runs.last(runs.length - 1))
    if (fault !== undefined) throw invalid(server.url, `was given before: ${fault}`)
    this.#client.accepted(after)
    return new Batch(runs, count, askedMs, askedWallMs, generation)
  }

  async #exchange(
    { url }: Server,
    count: number,
    after: bigint,
    signal: AbortSignal,
    keep: (token: string) => void,
  ): Promise<Runs> {
    const { token, layout } = this.#options
    const asked: Asked = { url, count, layout }
    const target = `${url}${this.#path}?count=${count}${this.#query}${after < 0n ? '' : `&after=${after}`}`
    for (let isAgain = false; ; isAgain = true) {
      const given = await tokenOf(token)
      if (given !== undefined) keep(given)
      // A `fetch` of the user may ignore the signal, so it is checked here and while a body is read.
      signal.throwIfAborted()
      const answer = await this.#send(target, given, signal)
      if (answer.status === 200) return readRuns(answer, asked, signal)
      this.#client.refused(answer)
      const wallMs = this.#clocks.wallMs()
      const refusal = await refusalOf(answer, { url, count, token: given, wallMs, after, signal })
      if ((refusal as GraupelError).code === 'ERR_CLOCK_SKEW') this.#client.tooFarAhead(after)
      // The token may have been rotated since the function gave it.
      const isStale = answer.status === 401 && typeof token === 'function' && !isAgain
      if (!isStale) throw refusal
      signal.throwIfAborted()
    }
  }

  #send(url: string, token: string | undefined, signal: AbortSignal): Promise<Answer> {
    // Called without `this`, because a browser's own `fetch` refuses another `this`.
    const { fetch } = this.#options
    return fetch(url, {
      method: 'GET',
      headers: {
        accept: runsType,
        'cache-control': 'no-store',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      // A redirect would carry the token elsewhere. 'error' is refused by workerd, and does not say why it
      // fails.
      redirect: 'manual',
      ...knownExtras(),
      signal,
    })
  }
}

async function tokenOf(token: ResolvedOptions['token']): Promise<string | undefined> {
  if (typeof token !== 'function') return token
  let given: unknown
  try {
    given = await token()
  } catch (error) {
    throw new GraupelError('ERR_SERVICE_UNAVAILABLE', `the function token has failed: ${reasonOf(error)}`, {
      cause: error,
    })
  }
  checkToken(given)
  return given
}

/**
 * Whether the client itself made an error, which then says what to do: a RangeError or TypeError is about the
 * token.
 */
function isOwn(error: unknown): boolean {
  if (error instanceof GraupelError) return true
  return error instanceof Error && 'code' in error && error.code === 'ERR_OPTION_INVALID'
}
