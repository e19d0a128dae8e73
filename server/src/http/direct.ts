import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
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
 * @param gate - The check that every other request passes.
 * @param isPlain - Tells whether the service may answer without a log line and without `Connection: close`.
 * @param onAnswer - Called after each answer with its duration in milliseconds.
 */
export function directly(
  route: DirectRoute,
  gate: Check,
  isPlain: () => boolean,
  onAnswer: (ms: number) => void,
  next: RequestListener,
): RequestListener {
  const { url, load } = route
  const fixed = Object.entries(route.headers).flat()
  const accepted = new Set([undefined, '*/*', 'application/json'])

  // One function with one `await`: each further promise takes as long as a header.
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const startMs = performance.now()
    let id: bigint
    try {
      gate(request)
      clientOf(request)?.takeIds(1)
      load.enter()
      try {
        id = await route.next()
      } finally {
        load.leave()
      }
    } catch {
      next(request, response)
      return
    }
    const body = route.body(id)
    response.writeHead(200, [...fixed, 'content-length', `${body.length}`])
    // Sent by one write. `end(body)` makes two, of which the second is empty.
    response.write(body, 'latin1')
    response.socket?.uncork()
    response.end()
    noteAnswer(response)
    onAnswer(performance.now() - startMs)
  }

  return (request, response) => {
    const isDirect = request.url === url && request.method === 'GET' && isPlain()
    if (isDirect && accepted.has(request.headers.accept) && request.headers['x-request-id'] === undefined) {
      void answer(request, response)
    } else {
      next(request, response)
    }
  }
}
