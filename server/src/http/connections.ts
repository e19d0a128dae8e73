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
 * @param before - Answers some requests itself and passes the others on.
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
  const known = knownMethods(handler)
  const noted = untilLast(known, isStopping)
  const server =
    pair === undefined
      ? createServer(limits)
      : createTlsServer({ ...limits, ...pair, handshakeTimeout: requestTimeoutMs })
  server.timeout = stalledMs
  answerHalfClosed(server)
  // A client may ask whether to send a body (Expect). The answer is final, because no route reads a body.
  server.on('checkContinue', noted).on('checkExpectation', noted)
  server.on('connect', refuseConnect)
  return server.on('request', untilLast(before(known), isStopping))
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

/** Connections whose last answer is known. */
const ending = new WeakSet<Socket>()

/**
 * Ends the connection after this answer. A request behind it is not processed: its answer could not be sent,
 * and a count that it took would be missing.
 */
export function endAfter(response: ServerResponse): void {
  const { socket } = response.req
  ending.add(socket)
  closeBy(socket, () => linger(socket))
  response.setHeader('connection', 'close')
}

/**
 * The answer that each connection sends last so far. An answer that was sent is forgotten, so an idle
 * connection holds no memory.
 */
const lastAnswers = new WeakMap<Socket, ServerResponse>()

/** Ignores requests behind the last answer of a connection. */
function untilLast(next: RequestListener, isStopping: () => boolean): RequestListener {
  return (request, response) => {
    const { socket } = request
    if (ending.has(socket)) {
      // Until the last answer is sent, later requests wait in the client and not here.
      socket.pause()
      return
    }
    // The client then opens no further request on this connection. Closing an idle connection could reset a
    // request on its way.
    if (isStopping()) endAfter(response)
    lastAnswers.set(socket, response)
    response.once('close', forget)
    next(request, response)
  }
}

function forget(this: ServerResponse): void {
  const { socket } = this.req
  if (lastAnswers.get(socket) === this) lastAnswers.delete(socket)
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
  if (ending.has(socket)) return
  ending.add(socket)
  answer(socket, problem, id)
}

/** Refuses `CONNECT`, the method of proxies. For the event `connect`, which has no response. */
export function refuseConnect(request: IncomingMessage, socket: Socket): void {
  // Node has removed its own listener, and the error of a client that has left would end the process.
  socket.on('error', () => socket.destroy())
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
  const earlier = lastAnswers.get(socket)
  if (earlier !== undefined) {
    earlier.once('close', () => answer(socket, problem, id))
    return
  }
  if (!socket.writable) return
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
  linger(socket)
}
