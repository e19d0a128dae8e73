import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import pino, { type DestinationStream, type Logger } from 'pino'
import type { Options } from '../options/table.js'
import { stderrOutput } from './log-output.js'
import { pathOf } from './parameters.js'

/**
 * Makes the logger, which writes lines of JSON.
 *
 * @param to - By default stderr.
 * @param hide - Removes the credentials of the store from a text. Clients of databases quote them in their
 * errors.
 */
export function makeLogger(
  { logLevel }: Pick<Options, 'logLevel'>,
  to: DestinationStream = stderrOutput(),
  hide: (text: string) => string = (text) => text,
): Logger {
  return pino({ level: logLevel, serializers: { err: (error) => shownError(error, hide) } }, to)
}

/**
 * Drops all other properties of an error. A database client's error may contain its whole command or its
 * settings.
 */
function shownError(error: unknown, hide: (text: string) => string) {
  if (!(error instanceof Error)) return hide(String(error))
  // This stack includes the stacks of the causes.
  const { type, message, stack } = pino.stdSerializers.err(error)
  const { code } = error as { code?: unknown }
  return { type, message: hide(message), stack: hide(`${stack}`), ...(typeof code === 'string' && { code }) }
}

/** Differs between processes, so the request ids of processes that share a log differ. */
const processPart = randomBytes(4).toString('hex')
let requests = 0

/** Returns the id that the client gave its request, or a new id. */
export function requestIdOf(request: IncomingMessage): string {
  return givenIdOf(request) ?? newRequestId()
}

/** Returns an id for a request that has none. */
export function newRequestId(): string {
  requests++
  return `${processPart}-${requests.toString(36)}`
}

/** Returns the client's id, or `undefined` if there is none or it is unfit for a log. */
export function givenIdOf({ headers }: IncomingMessage): string | undefined {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : undefined
}

/**
 * Returns the part of a URL that the log has: its path. A client may have put its token into a parameter, or
 * before the host of a whole URL.
 */
export function loggedPath(url = ''): string | undefined {
  return url.startsWith('/') ? pathOf(url) : undefined
}

/** A request that is refused: one of Fastify, or a command of Redis. */
export interface Refusable {
  readonly id: string
  readonly raw: { readonly method?: string | undefined; readonly url?: string | undefined }
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** Time between two lines about refusals of one code. */
const quietMs = 1000

/**
 * Logs refused requests, without the texts of the client: any of them may be its token. A client's mistake
 * has the level debug, so hostile clients cannot fill the disk. A failure of the service has the level error,
 * once a second for each code, because a busy service without its store refuses every request.
 */
export class RefusalLog {
  readonly #logger: Logger
  readonly #last = new Map<string, { readonly ms: number; more: number }>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  add(request: Refusable, status: number, code: string, error: unknown): void {
    const isFailure = status >= 500
    if (!this.#logger.isLevelEnabled(isFailure ? 'error' : 'debug')) return
    const { method, url } = request.raw
    const line = { reqId: request.id, method, url: loggedPath(url), status, code, remote: request.socket.remoteAddress }
    if (!isFailure) {
      this.#logger.debug(line, 'a request was refused')
      return
    }
    const nowMs = performance.now()
    const last = this.#last.get(code)
    if (last !== undefined && nowMs - last.ms < quietMs && status !== 500) {
      last.more++
      return
    }
    this.#last.set(code, { ms: nowMs, more: 0 })
    this.#logger.error({ ...line, err: error, more: last?.more ?? 0 }, 'a request has failed')
  }
}
