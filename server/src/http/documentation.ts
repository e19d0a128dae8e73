import type { RouteShorthandOptions } from 'fastify'
import type { Parameter } from './parameters.js'
import { type ProblemCode, statuses } from './problems.js'

type Schema = Readonly<Record<string, unknown>>

/** One representation of an answer. The example is one that the schema allows; a test asks for it. */
interface Content {
  readonly schema: Schema
  readonly example?: unknown
}

export interface Answer {
  readonly description: string
  /** By media type. */
  readonly content: Readonly<Record<string, Content>>
  /** Its headers, each with what it says. */
  readonly headers?: Readonly<Record<string, string>>
}

/** What the OpenAPI document says of a route. */
export interface Documentation {
  /** In lower camel case, and different for each route: generators make it the name of a function. */
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  /** What it belongs to: `ids`, `segments`, `counters`, `leaf` or `service`. */
  readonly tag: string
  /** The parameters of the path, each with an example. */
  readonly path?: Readonly<
    Record<string, { readonly description: string; readonly schema: Schema; readonly example: string }>
  >
  /** Those that `readQuery` reads. */
  readonly query?: Readonly<Record<string, Parameter<unknown>>>
  /** By status. */
  readonly answers: Readonly<Record<number, Answer>>
  /** The codes it is refused with, beside those of every route. */
  readonly problems?: readonly ProblemCode[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    documentation?: Documentation
  }
}

/**
 * Documents a route. It is not Fastify's `schema`, with which each request would be validated a second time.
 *
 * @example
 * app.get('/v1/segments/:name', documented({ operationId: 'nextNumbers', summary: '…', tag: 'segments', … }), handler)
 */
export function documented(documentation: Documentation): RouteShorthandOptions {
  return { config: { documentation } }
}

/** Of every route but those for the platform. */
const common: readonly ProblemCode[] = ['ERR_REQUEST_INVALID', 'ERR_BODY_UNEXPECTED', 'ERR_INTERNAL']
/** Leaf's routes refuse no parameter and no Accept. */
const notOfLeaf: readonly ProblemCode[] = ['ERR_OPTION_INVALID', 'ERR_OPTION_UNKNOWN', 'ERR_NOT_ACCEPTABLE']

/** The same as @fastify/swagger reads it. @param isTokenNeeded - By which a request is refused, or else by where it is from. */
export function swaggerSchemaOf(documentation: Documentation, isTokenNeeded: boolean): Record<string, unknown> {
  const { operationId, summary, description, tag, path = {}, query = {}, answers, problems = [] } = documentation
  const response: Record<string, unknown> = {}
  for (const [status, answer] of Object.entries(answers)) {
    response[status] = {
      description: answer.description,
      content: answer.content,
      ...(answer.headers && { headers: mapped(answer.headers, (text) => ({ type: 'string', description: text })) }),
    }
  }
  const access = isTokenNeeded ? 'ERR_UNAUTHORIZED' : 'ERR_FORBIDDEN'
  const codes = [...common, access, ...(tag === 'leaf' ? [] : notOfLeaf), ...problems] as const
  for (const [status, ofStatus] of byStatus(codes)) {
    response[status] ??= {
      description: ofStatus.join(', '),
      headers: headersOf(Number(status)),
      content: { 'application/problem+json': { schema: { $ref: 'Problem#' } } },
    }
  }
  return {
    operationId,
    summary,
    ...(description && { description }),
    tags: [tag],
    params: properties(
      mapped(path, ({ description, schema, example }) => ({ ...schema, description, examples: [example] })),
    ),
    querystring: properties(
      mapped(query, ({ description, schema }) => ({ ...schema, description, examples: [exampleOf(schema)] })),
      Object.keys(query).filter((name) => query[name]?.isRequired),
    ),
    response,
  }
}

/** The headers of an answer that refuses. */
function headersOf(status: number): Schema {
  const retryAfter = { type: 'integer', description: 'seconds after which it may be tried again' }
  return {
    'X-Request-Id': { type: 'string', description: 'by which the log of the service has the request' },
    ...(status === 401 && { 'WWW-Authenticate': { type: 'string', description: 'Bearer' } }),
    ...(status === 503 && { 'Retry-After': retryAfter }),
  }
}

/** Problem details (RFC 9457). */
export const problemSchema = {
  $id: 'Problem',
  type: 'object',
  description: 'Problem details (RFC 9457)',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', description: 'urn:graupel: and the code' },
    title: { type: 'string', description: 'what the status is called' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'what was given, the rule, and what to do' },
    code: { type: 'string', enum: Object.keys(statuses) },
    parameter: { type: 'string', description: 'which parameter has to be a whole number within bounds' },
    minimum: { type: 'integer', description: 'the least it may be' },
    maximum: { type: 'integer', description: 'the most it may be' },
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

function exampleOf({ default: byDefault, enum: choices, minimum }: Schema): unknown {
  return byDefault ?? (choices as unknown[] | undefined)?.[0] ?? minimum
}

function mapped<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}
