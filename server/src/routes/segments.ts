import type { FastifyInstance, FastifyRequest } from 'fastify'
import { documented } from '../http/documentation.js'
import { Load, limitsFor } from '../http/load.js'
import { bodyOf } from '../http/number-body.js'
import { formatOf, formOf, headersWith, numbersAnswer } from '../http/number-form.js'
import { readQuery, wholeNumber } from '../http/parameters.js'
import type { Options } from '../options/table.js'
import type { Service } from '../service.js'
import { namePath, nameProblems } from './named-route.js'

export function addSegmentRoutes(app: FastifyInstance, service: Service, { maxCount, maxConnections }: Options): void {
  const parameters = { count: wholeNumber('how many numbers', 1, maxCount, 1), format: formatOf('numbers') }
  const load = new Load(limitsFor(Number.POSITIVE_INFINITY, maxCount, maxConnections))
  const headers = headersWith()
  const asked = (request: FastifyRequest) => {
    const { count = 1, format } = readQuery(parameters, request.query)
    const { name } = request.params as { name: string }
    return { name, count, ...formOf(format, request.headers.accept) }
  }

  const documentation = documented({
    operationId: 'getNumbers',
    summary: 'New numbers of a segment, which no other request gets',
    description:
      'The numbers of one answer ascend. Numbers of a request that fails or is cut off are given to no other. HEAD uses up none.',
    tag: 'segments',
    path: namePath('what is numbered', 'orders'),
    query: parameters,
    answers: { 200: numbersAnswer('number', maxCount, ['1', '2']) },
    problems: [...nameProblems, 'ERR_EMPTY', 'ERR_SEGMENT_OVERFLOW', 'ERR_OVERLOADED'],
  })
  // Before the other: Fastify would make one that answers as GET, and uses numbers up.
  app.head('/v1/segments/:name', (request, reply) => {
    const { name, representation } = asked(request)
    service.segments.check(name)
    return reply.headers(headers[representation]).send()
  })
  app.get('/v1/segments/:name', documentation, async (request, reply) => {
    const { name, count, representation, encoding } = asked(request)
    load.hold(count, request.raw)
    const segment = await service.segments.get(name)
    const numbers = await segment.fillAsync(new BigUint64Array(count))
    const body = await bodyOf(numbers, representation, encoding, 'numbers')
    reply.headers(headers[representation])
    return body
  })
}
