import type { FastifyInstance } from 'fastify'
import { decode, type Layout, layouts, parseId, type TextEncoding } from 'graupel'
import { oneOf, readQuery } from '../http/parameters.js'
import { contentTypes, representationOf } from '../http/representation.js'
import type { Service } from '../service.js'

const encodings = ['decimal', 'hex', 'base32', 'base58', 'base62'] as const satisfies readonly TextEncoding[]
const headers = {
  'content-type': contentTypes.json,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

export function addDecodeRoutes(app: FastifyInstance, service: Service): void {
  const known = new Map<string, Layout>(Object.entries(layouts) as [string, Layout][])
  // Those of the service come first, also where one has the name of a preset.
  for (const [name, { layout }] of service.ids) known.set(name, layout)
  const [byDefault] = service.ids.keys()
  const parameters = {
    format: oneOf('how the id is written', encodings, 'decimal'),
    layout: oneOf('what the id was made with; nothing in an id tells which', [...known.keys()], byDefault),
  }

  app.get('/v1/ids/:id', (request, reply) => {
    const { format = 'decimal', layout: name = byDefault as string } = readQuery(parameters, request.query)
    representationOf(request.headers.accept, ['json'])
    const id = parseId((request.params as { id: string }).id, format)
    const { timestamp, ...parts } = decode(id, known.get(name) as Layout)
    reply.headers(headers)
    return JSON.stringify({ id: `${id}`, layout: name, timestamp: timestamp.toISOString(), ...parts })
  })
}
