import { GraupelError } from '../errors.js'
import { type Answer, invalid, readText } from './answer.js'

const maxDetail = 300
const maxRetryAfterMs = 30_000

/** The service gives fewer ids at once. */
export class CountRefused extends Error {
  readonly most: number

  constructor(most: number, message: string) {
    super(message)
    this.most = most
  }
}

/**
 * What an answer without ids means.
 *
 * @param count - How many ids were asked for.
 * @param token - What no message may have.
 * @returns GraupelError `ERR_SERVICE_REFUSED`, which is not tried again; `ERR_SERVICE_UNAVAILABLE` or `ERR_SERVICE_INVALID`; or a
 * {@link CountRefused}.
 */
export async function refusalOf(
  answer: Answer,
  url: string,
  count: number,
  token: string | undefined,
  wallMs: number,
): Promise<Error> {
  const { status, headers } = answer
  // 0: a redirect that a browser shows no more of.
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
  const said = await detailOf(answer)
  const detail = token === undefined ? said : said.replaceAll(token, '***')
  const message = `${url} answered ${status}${detail === '' ? '' : `: ${detail}`}`
  if (status >= 500 || status === 408 || status === 425 || status === 429) {
    const retryAfterMs = retryAfterOf(headers.get('retry-after'), wallMs)
    return new GraupelError('ERR_SERVICE_UNAVAILABLE', message, retryAfterMs === undefined ? {} : { retryAfterMs })
  }
  const most = status === 400 ? mostOf(detail, count) : undefined
  if (most !== undefined) return new CountRefused(most, message)
  return new GraupelError('ERR_SERVICE_REFUSED', message, { status })
}

/** How many ids the service gives at once, by what it says of `count`: the number it names, or half as many as were asked for. */
function mostOf(detail: string, count: number): number | undefined {
  if (count === 1 || !/^count\b/.test(detail)) return undefined
  const named = Number(/ to ([1-9]\d*)$/.exec(detail)?.[1])
  return named < count ? named : Math.floor(count / 2)
}

/** The `detail` of problem details (RFC 9457), or the text of what is something else; one line. */
async function detailOf(answer: Answer): Promise<string> {
  const text = await readText(answer)
  const line = (messageIn(text) ?? text).replace(/\p{Cc}+/gu, ' ').trim()
  return line.length > maxDetail ? `${line.slice(0, maxDetail)}…` : line
}

function messageIn(text: string): string | undefined {
  try {
    const { detail } = Object(JSON.parse(text)) as { detail?: unknown }
    return typeof detail === 'string' ? detail : undefined
  } catch {
    return undefined
  }
}

/** Seconds, or a date (RFC 9110, section 10.2.3); no more than half a minute. */
function retryAfterOf(header: string | null, wallMs: number): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - wallMs
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), maxRetryAfterMs)
}

/** Lets the connection go on without the body. */
function discard({ body }: Answer): void {
  body?.cancel().catch(() => {})
}
