import type { FastifyInstance } from 'fastify'
import { readQuery } from '../http/parameters.js'
import { contentTypes, representationOf } from '../http/representation.js'

const text = `graupel-server hands out ids and numbers.

/v1/ids              ids: ?count=3, ?format=hex, ?layout=
/v1/ids/{id}         what an id is made up of
/v1/segments/{name}  numbers without gaps between requests of one service
/v1/counters/{name}  counts without gaps
/openapi.json        all of it in detail
/metrics             for Prometheus
/livez /readyz       for the platform
`

/** What a person finds who opens the address. */
export function addFrontRoute(app: FastifyInstance): void {
  app.get('/', (request, reply) => {
    readQuery({}, request.query)
    representationOf(request.headers.accept, ['text'])
    return reply.headers({ 'content-type': contentTypes.text, 'x-content-type-options': 'nosniff' }).send(text)
  })
}
