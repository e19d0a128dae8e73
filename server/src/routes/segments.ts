import type { FastifyInstance } from 'fastify'
import { readQuery, wholeNumber } from '../http/parameters.js'
import type { Service } from '../service.js'
import { chooseRepresentation, sendBytes, sendList } from './number-answers.js'

export function addSegmentRoutes(app: FastifyInstance, service: Service, maxCount: number): void {
  const parameters = { count: wholeNumber('how many numbers', 1, maxCount, 1) }
  app.get('/v1/segments/:name', async (request, reply) => {
    const { name } = request.params as { name: string }
    const { count = 1 } = readQuery(parameters, request.query)
    const kind = chooseRepresentation(request, ['json', 'text', 'bytes'])
    if (request.method === 'HEAD') return sendList(reply, kind, 'numbers', [])
    const segment = await service.segments.get(name)
    const numbers = await segment.fillAsync(new BigUint64Array(count))
    return kind === 'bytes' ? sendBytes(reply, numbers) : sendList(reply, kind, 'numbers', Array.from(numbers, String))
  })
}
