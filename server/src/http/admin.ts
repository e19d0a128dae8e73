import type { RequestListener } from 'node:http'
import { pathOf, unknownRoute } from './gate.js'
import { requestIdOf } from './log.js'
import { refusalOf } from './problems.js'

// The port of --admin-port: probes and metrics, out of reach of the limit of connections for clients.

/** The paths that the admin port answers. */
const adminPaths: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics'])

/** The most connections of the admin port. */
export const maxAdminConnections = 100

/** Answers the paths of the admin port and refuses all others. @param next - Answers every path of the service. */
export function onlyAdminPaths(next: RequestListener): RequestListener {
  return (request, response) => {
    if (adminPaths.has(pathOf(request.url ?? ''))) {
      next(request, response)
      return
    }
    const { status, headers, body } = refusalOf(unknownRoute())
    const id = requestIdOf(request)
    // The connection ends, because the bytes of a body that follow it would be taken for a request.
    response
      .writeHead(status, { ...headers, 'x-request-id': id, 'content-length': body.length, connection: 'close' })
      .end(body)
  }
}
