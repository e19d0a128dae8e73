import type { Documentation } from '../http/documentation.js'
import type { ProblemCode } from '../http/problems.js'

/** The codes that a request for a name is refused with, of a segment or of a counter. */
export const nameProblems: readonly ProblemCode[] = [
  'ERR_NAME_UNKNOWN',
  'ERR_NAMES_FULL',
  'ERR_STATE_MISMATCH',
  'ERR_STORE_UNAVAILABLE',
  'ERR_STORE_INVALID',
  'ERR_CLOSED',
]

/** The path parameter of such a request, for the OpenAPI document. The library checks it. */
export function namePath(description: string, example: string): NonNullable<Documentation['path']> {
  return { name: { description, schema: { type: 'string', minLength: 1, maxLength: 128 }, example } }
}
