import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { readQuery, wholeNumber } from '../http/parameters.js'
import { Problem } from '../http/problems.js'
import type { Service } from '../service.js'
import { chooseRepresentation, sendList } from './number-answers.js'

/** All counts of a request are made into texts in one go, for which other requests wait. */
const maxCounts = 4096

export function addCounterRoutes(app: FastifyInstance, service: Service): void {
  const parameters = { count: wholeNumber('how many counts', 1, maxCounts, 1) }
  app.get('/v1/counters/:name', async (request, reply) => {
    const { name } = request.params as { name: string }
    const { count = 1 } = readQuery(parameters, request.query)
    const kind = chooseRepresentation(request, ['json', 'text'])
    if (request.method === 'HEAD') return sendList(reply, kind, 'counts', [])
    const counter = await service.counters.get(name)
    return sendList(reply, kind, 'counts', await counter.take(count, untilGone(request.raw)))
  })
}

/** Aborted when the client has closed its connection: what was counted for it then goes to the next request. */
function untilGone(request: IncomingMessage): AbortSignal {
  const gone = new AbortController()
  request.once('close', () => gone.abort(new Problem('ERR_REQUEST_INVALID', 'the client has closed its connection')))
  return gone.signal
}
