import Negotiator from 'negotiator'
import { Problem } from './problems.js'

/** How an answer is sent: as JSON, as text with one item a line, or as 8 bytes for each number. */
export type Representation = 'json' | 'text' | 'bytes'

/** What `Accept` calls them. */
export const mediaTypes = {
  json: 'application/json',
  text: 'text/plain',
  bytes: 'application/octet-stream',
} as const satisfies Record<Representation, string>

/** What `Content-Type` calls them. With its parameter, which Fastify would otherwise add for each answer. */
export const contentTypes = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  bytes: 'application/octet-stream',
} as const satisfies Record<Representation, string>

const byMediaType = new Map(Object.entries(mediaTypes).map(([name, type]) => [type, name as Representation]))

/**
 * The representation that a client prefers.
 *
 * @param accept - Its `Accept`.
 * @param offered - The first is the default.
 * @throws Problem `ERR_NOT_ACCEPTABLE`
 */
export function representationOf<R extends Representation>(accept: string | undefined, offered: readonly R[]): R {
  if (accept === undefined || accept === '*/*') return offered[0] as R
  const types = offered.map((name) => mediaTypes[name])
  // What clients of the service send, which needs no parser.
  const exact = byMediaType.get(accept as (typeof types)[number])
  if (exact !== undefined && offered.includes(exact as R)) return exact as R
  const type = new Negotiator({ headers: { accept } }).mediaType(types)
  const found = byMediaType.get(type as (typeof types)[number])
  if (found !== undefined) return found as R
  throw new Problem('ERR_NOT_ACCEPTABLE', `the answer is ${types.join(', ')}, and Accept allows none of them`)
}
