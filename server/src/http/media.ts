/**
 * How an answer is sent: as JSON, as text with one item a line, as 8 bytes for each number, or as runs of
 * consecutive numbers.
 */
export type Representation = 'json' | 'text' | 'bytes' | 'runs' | 'runs-json'

/** Whether an answer in this form has numbers as texts. */
export function hasTexts(name: string): name is 'json' | 'text' {
  return name === 'json' || name === 'text'
}

export function isOfRuns(name: string): name is 'runs' | 'runs-json' {
  return name === 'runs' || name === 'runs-json'
}

/** The names of the representations in `Accept`. */
export const mediaTypes = {
  json: 'application/json',
  text: 'text/plain',
  bytes: 'application/octet-stream',
  runs: 'application/vnd.graupel.runs',
  'runs-json': 'application/vnd.graupel.runs+json',
} as const satisfies Record<Representation, string>

/**
 * The names of the representations in `Content-Type`. They have a charset, because Fastify would otherwise
 * add it to each answer.
 */
export const contentTypes = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  bytes: 'application/octet-stream',
  runs: 'application/vnd.graupel.runs',
  'runs-json': 'application/vnd.graupel.runs+json',
} as const satisfies Record<Representation, string>

/** Makes a browser trust the type of an answer and guess no other. */
const typed = { 'x-content-type-options': 'nosniff' } as const

/** Returns the headers of an answer to one request only, because another request gets other numbers. */
export function headersOf(type: string) {
  return { 'content-type': type, 'cache-control': 'no-store', ...typed } as const
}

/** Returns the headers of an answer that is the same for all requests. */
export function sharedHeadersOf(type: string) {
  return { 'content-type': type, ...typed } as const
}
