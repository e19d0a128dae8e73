import type { FastifyInstance } from 'fastify'
import Negotiator from 'negotiator'
import { sharedHeadersOf } from '../http/answer-headers.js'
import { readQuery } from '../http/parameters.js'
import { contentTypes, representationOf } from '../http/representation.js'
import { addPageRoutes } from './page.js'

const text = `graupel-server hands out ids and numbers.

/v1/ids              ids: ?count=3, ?format=hex, ?layout=
/v1/ids/{id}         what an id is made up of
/v1/segments/{name}  numbers without gaps between requests of one service
/v1/counters/{name}  counts without gaps
/openapi.json        all of it in detail
/metrics             for Prometheus
/livez /readyz       for the platform
`

/** What a person finds who opens the address: the page in a browser, and text elsewhere. */
export function addFrontRoute(app: FastifyInstance): void {
  const sendPage = addPageRoutes(app)
  app.get('/', (request, reply) => {
    readQuery({}, request.query)
    if (sendPage !== undefined && prefersPage(request.headers.accept)) return sendPage(request, reply)
    representationOf(request.headers.accept, ['text'])
    return reply.headers(sharedHeadersOf(contentTypes.text)).send(text)
  })
}

/** Browsers ask for HTML by its name; what takes anything is a program. */
function prefersPage(accept = '*/*'): boolean {
  return new Negotiator({ headers: { accept } }).mediaType(['text/plain', 'text/html']) === 'text/html'
}
