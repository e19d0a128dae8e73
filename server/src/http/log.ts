import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import pino, { type DestinationStream, type Logger } from 'pino'
import type { Options } from '../options/table.js'

/**
 * Lines of JSON.
 *
 * @param to - stderr, each line at once, so that none is lost where the process ends.
 * @param hide - Takes the credentials of the store out of a text: clients of databases quote them in their errors.
 */
export function makeLogger(
  { logLevel }: Pick<Options, 'logLevel'>,
  to: DestinationStream = pino.destination({ fd: 2, sync: true }),
  hide: (text: string) => string = (text) => text,
): Logger {
  return pino({ level: logLevel, serializers: { err: (error) => shownError(error, hide) } }, to)
}

/** No other property of an error: that of a client may have its whole command in it, or its settings. */
function shownError(error: unknown, hide: (text: string) => string) {
  if (!(error instanceof Error)) return hide(String(error))
  // The stack has the causes, too.
  const { type, message, stack } = pino.stdSerializers.err(error)
  const { code } = error as { code?: unknown }
  return { type, message: hide(message), stack: hide(`${stack}`), ...(typeof code === 'string' && { code }) }
}

/** Different in each process, so that ids of requests differ between those that write into one log. */
const processPart = randomBytes(4).toString('hex')
let requests = 0

/** The id that a client has given its request, or a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = givenIdOf(request)
  if (given !== undefined) return given
  requests++
  return `${processPart}-${requests.toString(36)}`
}

/** `undefined` where it has none, or one that is unfit for a log. */
export function givenIdOf({ headers }: IncomingMessage): string | undefined {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : undefined
}

/** Between two lines about refusals of one code. */
const quietMs = 1000

/**
 * Logs requests that were refused. What a client got wrong is for debugging, so that hostile ones do not fill the disk. What the
 * service could not do is an error, once a second for each code: without its store a busy service refuses each request.
 */
export class RefusalLog {
  readonly #logger: Logger
  readonly #last = new Map<string, { readonly ms: number; more: number }>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  add(request: FastifyRequest, status: number, code: string, error: unknown): void {
    const isFailure = status >= 500
    if (!this.#logger.isLevelEnabled(isFailure ? 'error' : 'debug')) return
    const { method, url } = request.raw
    const line = { reqId: request.id, method, url, status, code, remote: request.socket.remoteAddress }
    if (!isFailure) {
      this.#logger.debug({ ...line, detail: (error as Error).message }, 'a request was refused')
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
