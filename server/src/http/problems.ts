import { STATUS_CODES } from 'node:http'
import type { ErrorCode } from 'graupel'
import { headersOf } from './answer-headers.js'

/**
 * The codes of what the service refuses, each with the status of its answer. Those of the library keep their meaning, and are in
 * docs/errors.md; the others are the service's own.
 */
export const statuses = {
  ERR_OPTION_UNKNOWN: 400,
  ERR_OPTION_INVALID: 400,
  ERR_ID_INVALID: 400,
  ERR_ENCODING_UNKNOWN: 400,
  ERR_LAYOUT_EXPIRED: 503,
  ERR_CLOCK_BEFORE_EPOCH: 503,
  ERR_CLOCK_ROLLBACK: 503,
  ERR_SEQUENCE_OVERFLOW: 503,
  ERR_LEASE_EXPIRED: 503,
  ERR_NODES_EXHAUSTED: 503,
  ERR_CLOCK_SKEW: 503,
  ERR_STATE_UNAVAILABLE: 503,
  ERR_STORE_UNAVAILABLE: 503,
  ERR_STORE_INVALID: 503,
  ERR_EMPTY: 503,
  ERR_OVERLOADED: 503,
  ERR_CLOSED: 503,
  ERR_SEGMENT_OVERFLOW: 409,
  ERR_COUNTER_OVERFLOW: 409,
  ERR_STATE_MISMATCH: 409,
  ERR_REQUEST_INVALID: 400,
  ERR_BODY_UNEXPECTED: 400,
  ERR_UNAUTHORIZED: 401,
  ERR_FORBIDDEN: 403,
  ERR_ROUTE_UNKNOWN: 404,
  ERR_NAME_UNKNOWN: 404,
  ERR_METHOD_NOT_ALLOWED: 405,
  ERR_NOT_ACCEPTABLE: 406,
  ERR_REQUEST_TIMEOUT: 408,
  ERR_URI_TOO_LONG: 414,
  ERR_NAMES_FULL: 429,
  ERR_HEADERS_TOO_LARGE: 431,
  ERR_INTERNAL: 500,
} as const satisfies Partial<Record<ErrorCode, number>> & Record<string, number>

export type ProblemCode = keyof typeof statuses

/** For programs: which parameter is not within its bounds, and what they are (RFC 9457, section 3.2). */
export interface Bounds {
  readonly parameter: string
  readonly minimum: number
  readonly maximum: number
}

/** What a request is refused with. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly headers: Readonly<Record<string, string>>
  readonly bounds: Bounds | undefined

  constructor(
    code: ProblemCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    bounds: Bounds | undefined = undefined,
  ) {
    super(message)
    this.code = code
    this.headers = headers
    this.bounds = bounds
  }
}

/** An answer that refuses. */
export interface Refusal {
  readonly status: number
  readonly code: ProblemCode
  readonly headers: Readonly<Record<string, string>>
  /** Problem details (RFC 9457) as JSON. */
  readonly body: Buffer
}

/**
 * What a client is told in place of an error's message that may name a server, a key or a path, which the log has.
 * A {@link Problem} was written for clients, and is shown as it is.
 */
const hidden: Partial<Record<ProblemCode, string>> = {
  ERR_LEASE_EXPIRED:
    'the service has no node to make ids with, as its store has not renewed the lease; try again later',
  ERR_NODES_EXHAUSTED: 'every node is held by other services; try again later',
  ERR_CLOCK_SKEW: 'the clock of the service and that of its store differ by too much; try again later',
  ERR_STATE_UNAVAILABLE: 'the service cannot reach what its node keeps on this host; try again later',
  ERR_STORE_UNAVAILABLE: 'the store does not answer; try again later',
  ERR_STORE_INVALID: 'the store does not answer as it should; try again later',
  ERR_EMPTY: 'the numbers that were fetched are used up, and the store does not answer; try again later',
  ERR_STATE_MISMATCH:
    'what the store has under this name was made by other options, or is something else; use another name',
  ERR_INTERNAL: 'the service has failed; its log says why',
}

/** What Fastify refuses by itself, as the service says it. */
const byFramework: Readonly<Record<string, Problem | undefined>> = {
  FST_ERR_BAD_URL: new Problem(
    'ERR_REQUEST_INVALID',
    'the path has a percent sign that is not followed by the code of a character; write %25 for the sign itself',
  ),
  FST_ERR_MAX_PARAM_LENGTH: new Problem('ERR_URI_TOO_LONG', 'a part of the path is too long; give a shorter one'),
}

/** Seconds after which a refused request may succeed, where the error does not say. */
const retryS = 1

/** @param thrown - What a route has thrown. */
export function refusalOf(thrown: unknown): Refusal {
  const framework = byFramework[String((thrown as { code?: unknown } | undefined)?.code)]
  const error = framework ?? thrown
  const { code: given, message, headers, retryAfterMs } = Object(error) as Partial<Problem> & { retryAfterMs?: number }
  const code: ProblemCode = given !== undefined && Object.hasOwn(statuses, given) ? given : 'ERR_INTERNAL'
  const status = statuses[code]
  const detail = (error instanceof Problem ? undefined : hidden[code]) ?? message ?? ''
  const bounds = error instanceof Problem ? error.bounds : undefined
  const retryAfter = retryAfterMs === undefined ? retryS : Math.max(1, Math.ceil(retryAfterMs / 1000))
  return {
    status,
    code,
    headers: {
      ...headersOf('application/problem+json'),
      ...(status === 503 && { 'retry-after': `${retryAfter}` }),
      ...headers,
    },
    // Bytes, because Fastify adds a charset to the type of a text, and RFC 9457 has none.
    body: Buffer.from(
      JSON.stringify({ type: `urn:graupel:${code}`, title: STATUS_CODES[status], status, detail, code, ...bounds }),
    ),
  }
}
