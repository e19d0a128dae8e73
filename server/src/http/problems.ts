import { STATUS_CODES } from 'node:http'
import type { ErrorCode } from 'graupel'
import { headersOf } from './media.js'

/**
 * The codes of refusals, each with the status of its answer. Codes of the library keep their meaning
 * (docs/errors.md). The other codes are the service's own (docs/service.md).
 */
export const statuses = {
  ERR_OPTION_UNKNOWN: 400,
  ERR_OPTION_INVALID: 400,
  ERR_ID_INVALID: 400,
  ERR_ENCODING_UNKNOWN: 400,
  ERR_LAYOUT_INVALID: 400,
  ERR_LAYOUT_EXPIRED: 503,
  ERR_CLOCK_BEFORE_EPOCH: 503,
  ERR_CLOCK_ROLLBACK: 503,
  ERR_SEQUENCE_OVERFLOW: 503,
  ERR_LEASE_EXPIRED: 503,
  ERR_NODES_EXHAUSTED: 503,
  ERR_CLOCK_SKEW: 503,
  ERR_STATE_UNAVAILABLE: 503,
  ERR_STATE_CORRUPT: 503,
  ERR_STORE_UNAVAILABLE: 503,
  ERR_STORE_INVALID: 503,
  ERR_STORE_UNSAFE: 503,
  ERR_EMPTY: 503,
  ERR_OVERLOADED: 503,
  ERR_CLOSED: 503,
  ERR_STANDBY: 503,
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
  ERR_BODY_TOO_LARGE: 413,
  ERR_URI_TOO_LONG: 414,
  ERR_NAMES_FULL: 429,
  ERR_LIMIT_EXCEEDED: 429,
  ERR_HEADERS_TOO_LARGE: 431,
  ERR_INTERNAL: 500,
} as const satisfies Partial<Record<ErrorCode, number>> & Record<string, number>

export type ProblemCode = keyof typeof statuses

/** A parameter that is out of its bounds, and the bounds, for programs (RFC 9457, section 3.2). */
export interface Bounds {
  readonly parameter: string
  readonly minimum: number
  readonly maximum: number
}

/** A refusal of a request. Its message is written for clients. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly headers: Readonly<Record<string, string>>
  readonly bounds: Bounds | undefined
  /** Milliseconds after which the same request can succeed. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: ProblemCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    bounds: Bounds | undefined = undefined,
    retryAfterMs: number | undefined = undefined,
  ) {
    super(message)
    this.code = code
    this.headers = headers
    this.bounds = bounds
    this.retryAfterMs = retryAfterMs
  }
}

/** The answer to a refused request. */
export interface Refusal {
  readonly status: number
  readonly code: ProblemCode
  readonly headers: Readonly<Record<string, string>>
  /** A text for people, which clients may see. */
  readonly detail: string
  /** Problem details (RFC 9457) as JSON. */
  readonly body: Buffer
}

/**
 * Texts that replace the messages of errors other than {@link Problem}. Such a message may name a server, a
 * key or a path, and only the log may have it.
 */
const hidden: Partial<Record<ProblemCode, string>> = {
  ERR_LEASE_EXPIRED:
    'the service has no node to make ids with, because its store has not renewed the lease; try again later',
  ERR_NODES_EXHAUSTED: 'every node is held by other services; try again later',
  ERR_CLOCK_SKEW: 'the clocks of the service and of its store differ by too much; try again later',
  ERR_STATE_UNAVAILABLE: 'the service cannot reach the state of its node on this host; try again later',
  ERR_STATE_CORRUPT:
    'the record of the numbers is damaged, and the operator has to restore it; its log has the details',
  ERR_STORE_UNAVAILABLE: 'the store does not answer; try again later',
  ERR_STORE_INVALID: 'the store gave an unexpected answer; try again later',
  ERR_STORE_UNSAFE:
    'the store is set up so that it may forget records, and the operator has to correct it; its log has the details',
  ERR_EMPTY: 'all fetched numbers are used up, and the store does not answer; try again later',
  ERR_STATE_MISMATCH: 'the store has this name with other options or for another use; use another name',
  ERR_INTERNAL: 'the service failed; see its log for the reason',
}

/** The problems for requests that Fastify refuses by itself, by Fastify's codes. */
const byFramework: Readonly<Record<string, Problem | undefined>> = {
  FST_ERR_BAD_URL: new Problem(
    'ERR_REQUEST_INVALID',
    'the path has a percent sign without the code of a character after it; write %25 for a percent sign',
  ),
  FST_ERR_CTP_BODY_TOO_LARGE: new Problem('ERR_BODY_TOO_LARGE', 'the body has more than 32768 bytes; send fewer'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new Problem(
    'ERR_REQUEST_INVALID',
    'the body has not the length that Content-Length says; send all of it',
  ),
  FST_ERR_MAX_PARAM_LENGTH: new Problem(
    'ERR_URI_TOO_LONG',
    'a part of the path has more than 512 characters; give a shorter part',
  ),
}

/** Seconds after which a refused request may succeed, unless the error says it. */
const retryS = 1

/** Makes the answer to a request. @param thrown - The error of a route. */
export function refusalOf(thrown: unknown): Refusal {
  const framework = byFramework[String((thrown as { code?: unknown } | undefined)?.code)]
  const error = framework ?? thrown
  const { code: given, message, headers, retryAfterMs } = Object(error) as Partial<Problem>
  const code: ProblemCode = given !== undefined && Object.hasOwn(statuses, given) ? given : 'ERR_INTERNAL'
  const status = statuses[code]
  const detail = (error instanceof Problem ? undefined : hidden[code]) ?? message ?? ''
  const bounds = error instanceof Problem ? error.bounds : undefined
  const retryAfter = retryAfterMs === undefined ? retryS : Math.max(1, Math.ceil(retryAfterMs / 1000))
  return {
    status,
    code,
    detail,
    headers: {
      ...headersOf('application/problem+json'),
      ...(status === 503 && { 'retry-after': `${retryAfter}` }),
      ...headers,
    },
    // Bytes, because Fastify adds a charset to the type of a string, and RFC 9457 has no charset.
    body: Buffer.from(
      JSON.stringify({ type: `urn:graupel:${code}`, title: STATUS_CODES[status], status, detail, code, ...bounds }),
    ),
  }
}
