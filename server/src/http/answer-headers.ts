/** A browser takes an answer for its type, and for no other. */
const typed = { 'x-content-type-options': 'nosniff' } as const

/** The headers of an answer that is for one request alone: another one gets other numbers. */
export function headersOf(type: string) {
  return { 'content-type': type, 'cache-control': 'no-store', ...typed } as const
}

/** The headers of an answer that is the same for all requests. */
export function sharedHeadersOf(type: string) {
  return { 'content-type': type, ...typed } as const
}
