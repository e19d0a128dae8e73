import type { RouteShorthandOptions } from 'fastify'
import type { Parameter } from './parameters.js'
import { type ProblemCode, statuses } from './problems.js'

type Schema = Readonly<Record<string, unknown>>

/** One representation of an answer. A test checks that the schema allows the example. */
interface Content {
  readonly schema: Schema
  readonly example?: unknown
}

export interface Answer {
  readonly description: string
  /** By media type. */
  readonly content: Readonly<Record<string, Content>>
  /** Its headers, each with a description. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The description of a route in the OpenAPI document. */
export interface Documentation {
  /** In lower camel case, and different for each route. Code generators name a function by it. */
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  /** Whether it ignores parameters and `Accept` that it does not know. */
  readonly isLenient?: boolean
  /** Whether any client may request it, without a token and from any page. */
  readonly isOpen?: boolean
  /** Its group: `ids`, `segments`, `counters`, `store`, `leaf` or `service`. */
  readonly tag: string
  /** The parameters of the path, each with an example. */
  readonly path?: Readonly<
    Record<string, { readonly description: string; readonly schema: Schema; readonly example: string }>
  >
  /** The parameters that `readQuery` reads. */
  readonly query?: Readonly<Record<string, Parameter<unknown>>>
  /** The JSON of the body of a POST request. */
  readonly body?: Content
  /** By status. */
  readonly answers: Readonly<Record<number, Answer>>
  /** The codes that it is refused with, in addition to the codes of every route. */
  readonly problems?: readonly ProblemCode[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    documentation?: Documentation
  }
}

/**
 * Documents a route. Fastify's `schema` is not used, because Fastify would validate each request a second
 * time.
 *
 * @example
 * const options = documented({ operationId: 'nextNumbers', summary: '…', tag: 'segments', … })
 * app.get('/v1/segments/:name', options, handler)
 */
export function documented(documentation: Documentation): RouteShorthandOptions {
  return { config: { documentation } }
}

/** The codes of all routes. */
const common: readonly ProblemCode[] = [
  'ERR_REQUEST_INVALID',
  'ERR_BODY_UNEXPECTED',
  'ERR_REQUEST_TIMEOUT',
  'ERR_URI_TOO_LONG',
  'ERR_HEADERS_TOO_LARGE',
  'ERR_INTERNAL',
]
/** Codes of routes that are not lenient. */
const ofStrict: readonly ProblemCode[] = ['ERR_OPTION_INVALID', 'ERR_OPTION_UNKNOWN', 'ERR_NOT_ACCEPTABLE']

/**
 * Returns the schema that @fastify/swagger reads.
 *
 * @param isHead - Whether it describes `HEAD`, whose answer has the status and the headers of `GET`.
 * @param isTokenNeeded - Whether clients need a bearer token.
 */
export function swaggerSchemaOf(
  documentation: Documentation,
  isHead: boolean,
  isTokenNeeded: boolean,
): Record<string, unknown> {
  const { operationId, summary, description, tag, path = {}, query = {}, body, answers, problems = [] } = documentation
  const { isLenient, isOpen } = documentation
  const response: Record<string, unknown> = {}
  for (const [status, answer] of Object.entries(answers)) {
    response[status] = {
      description: answer.description,
      ...(isHead ? noContent : { content: answer.content }),
      ...(answer.headers && { headers: mapped(answer.headers, (text) => ({ type: 'string', description: text })) }),
    }
  }
  const ofTokens: readonly ProblemCode[] = isTokenNeeded ? ['ERR_UNAUTHORIZED', 'ERR_LIMIT_EXCEEDED'] : []
  const access: readonly ProblemCode[] = ['ERR_FORBIDDEN', ...ofTokens]
  const codes = [...common, ...(isOpen ? [] : access), ...(isLenient ? [] : ofStrict), ...problems]
  for (const [status, ofStatus] of byStatus(codes)) {
    response[status] ??= {
      description: ofStatus.join(', '),
      headers: refusalHeaders(Number(status), ofStatus),
      ...(isHead ? noContent : { content: { 'application/problem+json': { schema: { $ref: 'Problem#' } } } }),
    }
  }
  return {
    operationId: isHead ? `${operationId}Head` : operationId,
    summary: isHead ? `The status and the headers of: ${summary}` : summary,
    ...(isOpen && { security: [] }),
    ...(description && { description }),
    tags: [tag],
    params: properties(
      mapped(path, ({ description, schema, example }) => ({ ...schema, description, examples: [example] })),
    ),
    querystring: properties(
      mapped(query, ({ description, schema }) => ({ ...schema, description, examples: [exampleOf(schema)] })),
      Object.keys(query).filter((name) => query[name]?.isRequired),
    ),
    ...(body && { body: { ...body.schema, examples: [body.example] } }),
    response,
  }
}

/** The schema by which @fastify/swagger describes an answer without a body. */
const noContent = { type: 'null' } as const

/** Describes the headers of a refusal. */
function refusalHeaders(status: number, codes: readonly ProblemCode[]): Schema {
  const holder = { type: 'string', description: 'the URL of the server to ask, if ERR_STANDBY and the URL is known' }
  const retryAfter = { type: 'integer', description: 'seconds to wait before the next attempt' }
  return {
    'X-Request-Id': { type: 'string', description: 'the id of the request in the log of the service' },
    ...(status === 401 && { 'WWW-Authenticate': { type: 'string', description: 'Bearer' } }),
    ...((status === 429 || status === 503) && { 'Retry-After': retryAfter }),
    ...(codes.includes('ERR_STANDBY') && { 'Graupel-Holder': holder }),
  }
}

/** Problem details (RFC 9457). */
export const problemSchema = {
  $id: 'Problem',
  type: 'object',
  description: 'Problem details (RFC 9457)',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', description: 'urn:graupel: followed by the code' },
    title: { type: 'string', description: 'the name of the status' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'the given value, the rule, and a remedy' },
    code: { type: 'string', enum: Object.keys(statuses) },
    parameter: { type: 'string', description: 'the parameter that is out of its bounds' },
    minimum: { type: 'integer', description: 'its least value' },
    maximum: { type: 'integer', description: 'its greatest value' },
  },
}

function byStatus(codes: readonly ProblemCode[]): Map<number, ProblemCode[]> {
  const all = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const status = statuses[code]
    all.set(status, [...(all.get(status) ?? []), code])
  }
  return all
}

function properties(all: Readonly<Record<string, unknown>>, required: readonly string[] = []): Schema | undefined {
  return Object.keys(all).length === 0 ? undefined : { type: 'object', properties: all, required }
}

function exampleOf({ default: byDefault, enum: choices, minimum, examples }: Schema): unknown {
  return byDefault ?? ((choices ?? examples) as unknown[] | undefined)?.[0] ?? minimum
}

function mapped<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}

/** The codes that requests for a segment or a counter are refused with because of its name. */
export const nameProblems: readonly ProblemCode[] = [
  'ERR_NAME_UNKNOWN',
  'ERR_NAMES_FULL',
  'ERR_STATE_MISMATCH',
  'ERR_STATE_CORRUPT',
  'ERR_STORE_UNAVAILABLE',
  'ERR_STORE_INVALID',
  'ERR_STORE_UNSAFE',
  'ERR_CLOSED',
]

/** Describes the name of a segment or a counter in a path. The library checks the name. */
export function namePath(description: string, example: string): NonNullable<Documentation['path']> {
  return { name: { description, schema: { type: 'string', minLength: 1, maxLength: 128 }, example } }
}
