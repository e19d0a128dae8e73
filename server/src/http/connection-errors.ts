import { type IncomingMessage, METHODS, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Problem, refusalOf } from './problems.js'

/** How long a client may take to read why it was refused. */
const lingerMs = 1000

/** Those that were told so: bytes that follow are further errors. */
const refused = new WeakSet<Socket>()

/** For `clientError`: tells a client that what it has sent is no request, and closes the connection. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  const problem = problemOf(error)
  // Broken connections, and broken TLS: no answer would be read.
  if (problem === undefined || !socket.writable) {
    socket.destroy()
    return
  }
  if (refused.has(socket)) return
  refused.add(socket)
  answer(socket, problem)
}

/** For `connect`: the method of proxies, which Node hands over without a response. */
export function refuseConnect(_: IncomingMessage, socket: Socket): void {
  // Node listens no more, and the error of a client that has left would end the process.
  socket.on('error', () => socket.destroy())
  answer(socket, new Problem('ERR_METHOD_NOT_ALLOWED', 'this is no proxy; use GET or HEAD', { allow: 'GET, HEAD' }))
}

function problemOf({ code = '' }: NodeJS.ErrnoException): Problem | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Problem('ERR_HEADERS_TOO_LARGE', 'the request line and the headers are more than 8192 bytes; send fewer')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Problem('ERR_REQUEST_TIMEOUT', 'the request did not arrive in time; send it in one go')
  }
  return code.startsWith('HPE_') ? noRequest() : undefined
}

function noRequest(): Problem {
  return new Problem('ERR_REQUEST_INVALID', 'what was sent is no HTTP/1.1 request; send a request line and headers')
}

/**
 * Keeps methods from Fastify that it does not know, not even for paths that there are not: `PRI` without a version, as HTTP/2 begins,
 * comes through Node's parser.
 */
export function knownMethods(listener: RequestListener): RequestListener {
  const known = new Set(METHODS)
  return (request, response) => {
    if (known.has(request.method as string)) {
      listener(request, response)
      return
    }
    const { status, headers, body } = refusalOf(noRequest())
    response.writeHead(status, { ...headers, 'content-length': body.length, connection: 'close' }).end(body)
  }
}

function answer(socket: Socket, problem: Problem): void {
  // Requests before it, on the same connection, have their answers first.
  const { _httpMessage: earlier } = socket as Socket & { _httpMessage?: ServerResponse | null }
  if (earlier) {
    earlier.once('close', () => answer(socket, problem))
    return
  }
  if (!socket.writable) return
  const { status, headers, body } = refusalOf(problem)
  const lines = Object.entries({ ...headers, 'content-length': body.length, connection: 'close' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n`)
  socket.end(body)
  // To close at once, with bytes unread, would reset the connection, and the client could not read the answer.
  socket.setTimeout(lingerMs, () => socket.destroy())
}
