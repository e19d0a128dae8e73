import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { headersOf } from '../http/answer-headers.js'
import { type Answer, documented } from '../http/documentation.js'
import { oneOf, readQuery, wholeNumber } from '../http/parameters.js'
import { Problem } from '../http/problems.js'
import { contentTypes, mediaTypes, representationOf } from '../http/representation.js'
import type { Service } from '../service.js'
import { namePath, nameProblems } from './named-route.js'

/** All counts of a request are made into texts in one go, for which other requests wait. */
const maxCounts = 4096

const representations = ['json', 'text'] as const
const parameters = {
  count: wholeNumber('how many counts', 1, maxCounts, 1),
  format: oneOf('the representation, where a client cannot set Accept', representations),
}

export function addCounterRoutes(app: FastifyInstance, service: Service): void {
  const documentation = documented({
    operationId: 'getCounts',
    summary: 'The next counts of a counter, in a row',
    description:
      'What was counted for a request that fails, or whose client has left, goes to the next one. Only what was sent and did not arrive is missing. HEAD counts nothing.',
    tag: 'counters',
    path: namePath('what is counted', 'invoices'),
    query: parameters,
    answers: { 200: answer },
    problems: [...nameProblems, 'ERR_COUNTER_OVERFLOW', 'ERR_CLOCK_ROLLBACK'],
  })
  // Before the other: Fastify would make one that answers as GET, and counts.
  app.head('/v1/counters/:name', (request, reply) => {
    const { name, headers } = asked(request)
    service.counters.check(name)
    return reply.headers(headers).send()
  })
  app.get('/v1/counters/:name', documentation, async (request, reply) => {
    const { name, count, representation, headers } = asked(request)
    const gone = untilGone(request.raw)
    const counter = await service.counters.get(name)
    const counts = await counter.take(count, gone)
    reply.headers(headers)
    return representation === 'json' ? JSON.stringify({ counts }) : `${counts.join('\n')}\n`
  })
}

function asked(request: FastifyRequest) {
  const { count = 1, format } = readQuery(parameters, request.query)
  const { name } = request.params as { name: string }
  const representation = format ?? representationOf(request.headers.accept, representations)
  return { name, count, representation, headers: headersOf(contentTypes[representation]) }
}

/** Aborted when the client has closed its connection: what was counted for it then goes to the next request. */
function untilGone(request: IncomingMessage): AbortSignal {
  const gone = new AbortController()
  // That of the request, which an answer behind another one of the same connection has, too.
  request.once('close', () => gone.abort(new Problem('ERR_REQUEST_INVALID', 'the client has closed its connection')))
  return gone.signal
}

const answer: Answer = {
  description: 'The counts',
  content: {
    [mediaTypes.json]: {
      schema: {
        type: 'object',
        required: ['counts'],
        properties: { counts: { type: 'array', minItems: 1, maxItems: maxCounts, items: { type: 'string' } } },
      },
      example: { counts: ['1', '2'] },
    },
    [mediaTypes.text]: { schema: { type: 'string', description: 'one count a line' }, example: '1\n2\n' },
  },
}
