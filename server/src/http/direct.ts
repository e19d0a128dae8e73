import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Check } from './gate.js'

/** An answer that needs nothing of its request. */
export interface DirectRoute {
  /** The whole URL; with any parameter it is another one. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Its body, in ASCII, as JSON. */
  body(): Promise<string>
  /** Called with each answer. @param ms - What it took. */
  onAnswer(ms: number): void
}

/**
 * Answers the request that is sent most, one id and nothing else said, without Fastify, which makes 20 µs of 14
 * (docs/benchmarks.md). All that is not plain about it, and all that fails, is left to Fastify: what is refused is refused there.
 *
 * @param gate - As for every other request.
 * @param isPlain - Whether the service has nothing else to say or to log now.
 */
export function directly(
  { url, headers, body, onAnswer }: DirectRoute,
  gate: Check,
  isPlain: () => boolean,
  otherwise: RequestListener,
): RequestListener {
  const fixed = Object.entries(headers).flat()
  const accepted = new Set([undefined, '*/*', 'application/json'])

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const startMs = performance.now()
    let text: string
    try {
      gate(request)
      text = await body()
    } catch {
      otherwise(request, response)
      return
    }
    response.writeHead(200, [...fixed, 'content-length', `${text.length}`])
    response.end(text, 'latin1')
    onAnswer(performance.now() - startMs)
  }

  return (request, response) => {
    const isDirect = request.url === url && request.method === 'GET' && isPlain()
    if (isDirect && accepted.has(request.headers.accept) && request.headers['x-request-id'] === undefined) {
      void answer(request, response)
    } else {
      otherwise(request, response)
    }
  }
}
