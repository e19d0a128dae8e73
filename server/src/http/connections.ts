import {
  createServer,
  type IncomingMessage,
  METHODS,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Options } from '../options/table.js'
import { answerHalfClosed, closeBy } from '../private.js'
import type { Pair } from './certificate.js'
import { requestIdOf } from './log.js'
import { Problem, refusalOf } from './problems.js'

// Node's server below Fastify: the limits of a connection, and the answer to bytes that are no request.

const maxHeaderSize = 8192
/**
 * A connection on which no byte moves for this time is closed, even if its client still has an answer to
 * read. Then it may be twice this time: Node looks first after it, and finds that the system has taken bytes
 * since they were written (Node 20.20.2, `_onTimeout` in lib/net.js).
 */
export const stalledMs = 30_000
/** Time that a client has to read the last answer. */
const lingerMs = 1000

/**
 * Ends a connection whose client may still send, and throws away what comes. Closing at once, with bytes
 * unread, would reset the connection before the client can read its answers.
 */
export function linger(socket: Socket): void {
  // Such a socket sends no answer, and may have had its event `close` already.
  if (socket.destroyed) return
  lingering.add(socket)
  socket.once('close', () => lingering.delete(socket))
  socket.end()
  socket.resume()
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

const lingering = new Set<Socket>()

/** Whether a connection waits for its client to read the last answers. Node counts it as idle. */
export function isLingering(): boolean {
  return lingering.size > 0
}

/**
 * Makes a server that Fastify answers. It does not listen yet.
 *
 * @param pair - Serves HTTPS if given.
 * @param handler - Fastify's.
 * @param before - Answers some requests itself, calls `noteAnswer` after each, and passes the others on.
 * @param isStopping - Tells whether each answer ends its connection from now on.
 */
export function makeServer(
  { requestTimeoutMs, keepAliveMs }: Options,
  pair: Pair | undefined,
  handler: RequestListener,
  before: (next: RequestListener) => RequestListener,
  isStopping: () => boolean,
): Server {
  const limits = {
    maxHeaderSize,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
    keepAliveTimeout: keepAliveMs,
    // The gate refuses a request without Host, with a problem.
    requireHostHeader: false,
    // The gate refuses two Host headers, of which Node would otherwise hide the second.
    joinDuplicateHeaders: true,
  }
  const answered = watched(knownMethods(handler))
  const noted = untilLast(answered, isStopping)
  const server =
    pair === undefined
      ? createServer(limits)
      : createTlsServer({ ...limits, ...pair, handshakeTimeout: requestTimeoutMs })
  server.timeout = stalledMs
  // `maxHeaderSize` bounds them. Otherwise Node passes on the first thousand, and the checks miss the others.
  server.maxHeadersCount = 0
  answerHalfClosed(server)
  // A client may ask whether to send a body (Expect). Fastify's hook `onRequest` answers.
  server.on('checkContinue', noted).on('checkExpectation', noted)
  server.on('connect', refuseConnect)
  return server.on('request', untilLast(before(answered), isStopping))
}

/**
 * Refuses a method that Fastify has no routes for. Node's parser accepts one that `METHODS` does not list:
 * `PRI`, which begins HTTP/2.
 */
function knownMethods(next: RequestListener): RequestListener {
  const known = new Set(METHODS)
  return (request, response) => {
    if (known.has(request.method as string)) {
      next(request, response)
      return
    }
    const { status, headers, body } = refusalOf(noRequest())
    endAfter(response)
    response.writeHead(status, { ...headers, 'x-request-id': requestIdOf(request), 'content-length': body.length })
    response.end(body)
  }
}

/** The state of a connection. */
interface Connection {
  /** Whether its last answer is known. */
  isEnding: boolean
  /**
   * The answer that it sends last so far. An answer that was sent is forgotten, so an idle connection holds
   * no memory.
   */
  last: ServerResponse | undefined
}

/** The connections that had a request. */
const known = new WeakMap<Socket, Connection>()

function connectionOf(socket: Socket): Connection {
  const found = known.get(socket)
  if (found !== undefined) return found
  const made = { isEnding: false, last: undefined }
  known.set(socket, made)
  return made
}

/** Whether a connection has sent a request. */
export function isUsed(socket: Socket): boolean {
  return known.has(socket)
}

/** Whether the system has not taken all answers of a connection yet. They are sent in their order. */
export function isAnswering(socket: Socket): boolean {
  return known.get(socket)?.last !== undefined
}

/**
 * Ends the connection after this answer. A request behind it is not processed: its answer could not be sent,
 * and a count that it took would be missing.
 */
export function endAfter(response: ServerResponse): void {
  const { socket } = response.req
  connectionOf(socket).isEnding = true
  closeBy(socket, () => linger(socket))
  response.setHeader('connection', 'close')
}

/**
 * Ignores requests behind the last answer of a connection.
 *
 * @param next - `watched`, or calls `noteAnswer`.
 */
function untilLast(next: RequestListener, isStopping: () => boolean): RequestListener {
  return (request, response) => {
    const { socket } = request
    const connection = connectionOf(socket)
    if (connection.isEnding) {
      // Until the last answer is sent, later requests wait in the client and not here.
      socket.pause()
      return
    }
    // The client then opens no further request on this connection. Closing an idle connection could reset a
    // request on its way.
    if (isStopping()) endAfter(response)
    connection.last = response
    next(request, response)
  }
}

/** Notices when an answer was sent. */
function watched(next: RequestListener): RequestListener {
  return (request, response) => {
    response.on('close', forget)
    next(request, response)
  }
}

/**
 * Notices when an answer was sent that was just given to the connection. Mostly the system has taken it at
 * once, and no listener is needed.
 */
export function noteAnswer(response: ServerResponse): void {
  if (response.writableFinished) forget.call(response)
  else response.on('close', forget)
}

function forget(this: ServerResponse): void {
  const connection = connectionOf(this.req.socket)
  if (connection.last === this) connection.last = undefined
}

/**
 * Tells a client that its bytes are no request, and closes the connection. For the event
 * `clientError`. @param id - The request's id.
 */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket, id: string): void {
  const problem = problemOf(error)
  // A broken connection and broken TLS carry no answer.
  if (problem === undefined || !socket.writable) {
    socket.destroy()
    return
  }
  // Further bytes on such a connection are further errors.
  const connection = connectionOf(socket)
  if (connection.isEnding) return
  connection.isEnding = true
  answer(socket, problem, id)
}

/** Refuses `CONNECT`, the method of proxies. For the event `connect`, which has no response. */
export function refuseConnect(request: IncomingMessage, socket: Socket): void {
  // Node has removed its own listeners. The error of a client that has left would end the process, and a
  // client that reads no answer would keep the connection.
  socket.on('error', () => socket.destroy())
  socket.on('timeout', () => socket.destroy())
  answer(
    socket,
    new Problem('ERR_METHOD_NOT_ALLOWED', 'the service is no proxy; use GET or HEAD', { allow: 'GET, HEAD' }),
    requestIdOf(request),
  )
}

function problemOf({ code = '' }: NodeJS.ErrnoException): Problem | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Problem(
      'ERR_HEADERS_TOO_LARGE',
      'the request line and the headers have more than 8192 bytes; send fewer',
    )
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Problem('ERR_REQUEST_TIMEOUT', 'the request did not arrive in time; send all of it at once')
  }
  return code.startsWith('HPE_') ? noRequest() : undefined
}

function noRequest(): Problem {
  return new Problem('ERR_REQUEST_INVALID', 'the bytes are no HTTP/1.1 request; send a request line and headers')
}

function answer(socket: Socket, problem: Problem, id: string): void {
  // Requests that came earlier on the connection get their answers first.
  const earlier = connectionOf(socket).last
  if (earlier?.req.complete === false) {
    refuseBody(earlier, socket, problem, id)
    return
  }
  if (earlier !== undefined) {
    earlier.once('close', () => {
      // This listener may be older than the one that forgets the answer.
      forget.call(earlier)
      answer(socket, problem, id)
    })
    return
  }
  if (!socket.writable) return
  send(socket, problem, id)
  linger(socket)
}

/** Refuses a request whose body is late or broken. Its route waits for the body and would never answer. */
function refuseBody(response: ServerResponse, socket: Socket, problem: Problem, id: string): void {
  // The response has no socket while it waits behind an earlier answer. A refusal would be sent before that
  // answer, or in the middle of this one.
  if (response.socket !== socket || response.headersSent) {
    socket.destroy()
    return
  }
  send(socket, problem, id)
  // Not `linger` alone: the rest of the body would still reach the route, which would write it to the store.
  closeBy(socket, () => linger(socket))
  socket.destroySoon()
}

function send(socket: Socket, problem: Problem, id: string): void {
  const { status, headers, body } = refusalOf(problem)
  const lines = Object.entries({
    ...headers,
    'x-request-id': id,
    'content-length': body.length,
    connection: 'close',
  })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n`)
  socket.write(body)
}
