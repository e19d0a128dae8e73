import type { FastifyInstance } from 'fastify'
import { oneOf, readQuery, wholeNumber } from '../http/parameters.js'
import type { Service } from '../service.js'

export function addIdRoutes(app: FastifyInstance, service: Service, maxCount: number): void {
  const parameters = {
    count: wholeNumber('how many ids', 1, maxCount, 1),
    layout: oneOf('how ids are made up', [...service.ids.keys()]),
  }
  const [first] = service.ids.values()
  app.get('/v1/ids', async (request, reply) => {
    const { count = 1, layout } = readQuery(parameters, request.query)
    const source = (layout === undefined ? first : service.ids.get(layout)) as NonNullable<typeof first>
    reply.header('cache-control', 'no-store').header('content-type', 'application/json')
    if (count === 1) return `{"ids":["${await source.next()}"]}`
    const ids = await source.fill(count)
    return `{"ids":["${ids.join('","')}"]}`
  })
}
