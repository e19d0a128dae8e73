import { GraupelError } from '../core/errors.js'
import { type Answer, invalid, readText } from './answer.js'

const maxDetail = 300
const maxRetryAfterMs = 30_000

/** The request that was refused. */
export interface Refused {
  readonly url: string
  readonly count: number
  /** The token, which no message may show. */
  readonly token: string | undefined
  readonly wallMs: number
  /** The largest observed id, above which ids were asked for; -1n if none was observed. */
  readonly after: bigint
  readonly signal: AbortSignal
}

/** The service gives fewer ids in one answer. */
export class CountRefused extends GraupelError {
  readonly most: number

  constructor(most: number, message: string, status: number) {
    super('ERR_SERVICE_REFUSED', message, { status })
    this.most = most
  }
}

/**
 * Makes the error of an answer without ids.
 *
 * @returns GraupelError `ERR_SERVICE_REFUSED`, which is not tried again; `ERR_SERVICE_UNAVAILABLE`,
 * `ERR_SERVICE_INVALID`; `ERR_CLOCK_SKEW` if the observed id is too far ahead; or a {@link CountRefused}.
 */
export async function refusalOf(answer: Answer, { url, count, token, wallMs, after, signal }: Refused): Promise<Error> {
  const { status, headers } = answer
  // A browser hides the details of a redirect, and shows status 0.
  if (status === 0 || (status >= 300 && status < 400)) {
    discard(answer)
    return invalid(
      url,
      `is a redirect (${status || 'of a browser'}), which is not followed: the token must go nowhere else`,
    )
  }
  if (status < 400) {
    discard(answer)
    return invalid(url, `has the status ${status}, and not 200`)
  }
  const text = await readText(answer, signal)
  const problem = problemIn(text)
  const detail = lineOf(typeof problem.detail === 'string' ? problem.detail : text, token)
  const message = `${url} answered ${status}${detail === '' ? '' : `: ${detail}`}`
  if (status >= 500 || status === 408 || status === 425 || status === 429) {
    const retryAfterMs = retryAfterOf(headers.get('retry-after'), wallMs)
    const code = after >= 0n && problem.code === 'ERR_CLOCK_SKEW' ? 'ERR_CLOCK_SKEW' : 'ERR_SERVICE_UNAVAILABLE'
    return new GraupelError(code, message, retryAfterMs === undefined ? {} : { retryAfterMs })
  }
  const { parameter, maximum } = problem
  if (
    parameter === 'count' &&
    typeof maximum === 'number' &&
    Number.isInteger(maximum) &&
    maximum >= 1 &&
    maximum < count
  ) {
    return new CountRefused(maximum, message, status)
  }
  return new GraupelError('ERR_SERVICE_REFUSED', message, { status })
}

/**
 * The problem details (RFC 9457) that the client reads. `parameter` is too large, and `maximum` is its limit.
 */
interface ProblemDetails {
  readonly detail?: unknown
  readonly code?: unknown
  readonly parameter?: unknown
  readonly maximum?: unknown
}

/** Reads problem details. Another text has none. */
function problemIn(text: string): ProblemDetails {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Shortens a text to one line. The token is removed first, because half a token would not be found. */
function lineOf(text: string, token: string | undefined): string {
  const shown = token === undefined ? text : text.replaceAll(token, '***')
  const line = shown.replace(/\p{Cc}+/gu, ' ').trim()
  return line.length > maxDetail ? `${line.slice(0, maxDetail)}…` : line
}

/** Reads seconds or a date (RFC 9110, section 10.2.3). The result is at most half a minute. */
function retryAfterOf(header: string | null, wallMs: number): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - wallMs
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), maxRetryAfterMs)
}

/** Frees the connection without reading the body. */
function discard({ body }: Answer): void {
  body?.cancel().catch(() => {})
}
