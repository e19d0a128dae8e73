import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Answer, documented, namePath, nameProblems } from '../http/documentation.js'
import { type Load, untilGone } from '../http/load.js'
import { contentTypes, headersOf, mediaTypes } from '../http/media.js'
import { oneOf, readQuery, representationOf, wholeNumber } from '../http/parameters.js'
import { type TakingLog, takerOf } from '../http/taking-log.js'
import { clientOf } from '../http/tokens.js'
import type { Service } from '../service.js'

/** The most counts of one request. Other requests wait while their texts are made. */
export const maxCounts = 4096

const representations = ['json', 'text'] as const
const parameters = {
  count: wholeNumber('how many counts', 1, maxCounts, 1),
  format: oneOf('the representation, if a client cannot set Accept', representations),
}

export function addCounterRoutes(
  app: FastifyInstance,
  service: Service,
  load: Load,
  takings: TakingLog | undefined,
): void {
  const documentation = documented({
    operationId: 'getCounts',
    summary: 'The next counts of a counter, in a row',
    description:
      'The counts of a request that fails, or whose client has left, go to the next request. Only counts that were sent and did not arrive are missing. HEAD counts nothing.',
    tag: 'counters',
    path: namePath('the name of the counter', 'invoices'),
    query: parameters,
    answers: { 200: answer },
    problems: [...nameProblems, 'ERR_COUNTER_OVERFLOW', 'ERR_CLOCK_ROLLBACK', 'ERR_OVERLOADED'],
  })
  // Before GET, because Fastify would add a HEAD that counts as GET does.
  app.head('/v1/counters/:name', documentation, (request, reply) => {
    const { name, headers } = asked(request)
    service.counters.check(name)
    return reply.headers(headers).send()
  })
  app.get('/v1/counters/:name', documentation, async (request, reply) => {
    const { name, count, representation, headers } = asked(request)
    clientOf(request.raw)?.takeIds(count)
    load.hold(count, request.raw)
    // If the client leaves before, or half-closes, its counts go to the next request.
    const gone = untilGone(request.raw.socket)
    const counter = await service.counters.get(name)
    const counts = await counter.take(count, gone)
    takings?.addCounts(takerOf(request), { kind: 'counter', name }, counts)
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
