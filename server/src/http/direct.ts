import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
// The global `performance` is a getter, which takes as long as the reading.
import { performance } from 'node:perf_hooks'
import { noteAnswer } from './connections.js'
import type { Check } from './gate.js'
import type { Load } from './load.js'
import { clientOf } from './tokens.js'

/** A route whose answer depends on nothing in the request. */
export interface DirectRoute {
  /** The whole URL. A URL with any parameter is another one. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Bounds the requests under way. */
  readonly load: Load
  /** Makes the id of an answer. */
  next(): Promise<bigint>
  /** Writes the body, which is ASCII and JSON. */
  body(id: bigint): string
}

/**
 * Answers the most frequent request, for one id without parameters, before Fastify sees it. Every request
 * that is not plain, or fails, goes on to Fastify, so refusals are written in one place. docs/benchmarks.md
 * says what that saves.
 *
 * @param check - Checks a request whose path is known.
 * @param isPlain - Tells whether the service may answer without a log line and without `Connection: close`.
 * @param onAnswer - Called after each answer with its duration in milliseconds.
 */
export function directly(
  route: DirectRoute,
  check: Check,
  isPlain: () => boolean,
  onAnswer: (ms: number) => void,
  next: RequestListener,
): RequestListener {
  const { url, load } = route
  const fixed = Object.entries(route.headers).flat()
  /** The headers by the length of the body. */
  const heads: string[][] = []

  // One function with one `await`: each further promise takes as long as a header.
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const startMs = performance.now()
    let id: bigint
    let isCounted = false
    try {
      check(request, url)
      load.enter()
      try {
        // After the check of the load, because Fastify counts the id of a refused request, too.
        clientOf(request)?.takeIds(1)
        isCounted = true
        id = await route.next()
      } finally {
        load.leave()
      }
    } catch {
      if (isCounted) clientOf(request)?.giveIds(1)
      next(request, response)
      return
    }
    const body = route.body(id)
    heads[body.length] ??= [...fixed, 'content-length', `${body.length}`]
    response.writeHead(200, heads[body.length])
    // Sent by one write. `end(body)` makes two, of which the second is empty.
    response.write(body, 'latin1')
    response.socket?.uncork()
    response.end()
    noteAnswer(response)
    onAnswer(performance.now() - startMs)
  }

  return (request, response) => {
    const { url: asked, method, headers } = request
    if (
      asked === url &&
      method === 'GET' &&
      isPlain() &&
      (headers.accept === undefined || headers.accept === '*/*' || headers.accept === 'application/json') &&
      headers['x-request-id'] === undefined
    ) {
      void answer(request, response)
    } else {
      next(request, response)
    }
  }
}
