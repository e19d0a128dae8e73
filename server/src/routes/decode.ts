import type { FastifyInstance } from 'fastify'
import { decode, type Layout, layouts, parseId, type TextEncoding } from 'graupel'
import { documented } from '../http/documentation.js'
import { contentTypes, headersOf, mediaTypes } from '../http/media.js'
import { oneOf, readQuery, representationOf } from '../http/parameters.js'
import type { Service } from '../service.js'
import { idEncodings, kindParameter, textsOf } from './texts.js'

const headers = headersOf(contentTypes.json)

/** Returns the parts of an id. @throws GraupelError `ERR_ID_INVALID` */
export type Decoder = ReturnType<typeof decoderOf>

/**
 * The layouts whose ids the service reads, by their names. A layout of the service replaces a preset of the
 * same name.
 */
export function readableOf({ ids }: Service): ReadonlyMap<string, Layout> {
  const own = [...ids].map(([name, { layout }]): [string, Layout] => [name, layout])
  return new Map([...(Object.entries(layouts) as [string, Layout][]), ...own])
}

/** How the id is written, and which layout it has. */
interface Asked {
  readonly format?: (typeof idEncodings)[number]
  readonly layout?: string
  readonly kind?: string
}

export function decoderOf(service: Service) {
  const known = readableOf(service)
  const [byDefault = ''] = service.ids.keys()
  return (text: string, query: Asked = {}) => {
    const named = known.get(query.layout ?? byDefault) as Layout
    const texts = textsOf(query, service.kinds, named)
    const layout = texts?.layout ?? named
    const id = texts?.id(text) ?? parseId(text, (query.format ?? 'decimal') as TextEncoding)
    const { timestamp, ...parts } = decode(id, layout)
    return { id: `${id}`, layout: layout.name, timestamp: timestamp.toISOString(), ...parts }
  }
}

export function addDecodeRoutes(app: FastifyInstance, service: Service): void {
  const known = readableOf(service)
  const decodeText = decoderOf(service)
  const [byDefault] = service.ids.keys()
  const parameters = {
    format: oneOf('how the id is written', idEncodings, 'decimal'),
    layout: oneOf('the layout of the id, which the id itself does not tell', [...known.keys()], byDefault),
    ...kindParameter(service.kinds),
  }

  const documentation = documented({
    operationId: 'decodeId',
    summary: 'The parts of an id',
    tag: 'ids',
    path: {
      id: {
        description: 'an id as format or kind says',
        schema: { type: 'string' },
        example: '2045881362063413248',
      },
    },
    query: parameters,
    answers: { 200: { description: 'Its parts', content: { [mediaTypes.json]: { schema, example } } } },
    problems: ['ERR_ID_INVALID', 'ERR_LAYOUT_INVALID'],
  })
  app.get('/v1/ids/:id', documentation, (request, reply) => {
    const query = readQuery(parameters, request.query)
    representationOf(request.headers.accept, ['json'])
    const parts = decodeText((request.params as { id: string }).id, query)
    reply.headers(headers)
    return JSON.stringify(parts)
  })
}

const number = { type: 'integer', minimum: 0 }
const schema = {
  type: 'object',
  required: ['id', 'layout', 'timestamp', 'timestampMs', 'node', 'fields', 'sequence'],
  properties: {
    id: { type: 'string', description: 'in decimal', pattern: '^[0-9]{1,20}$' },
    layout: { type: 'string' },
    timestamp: {
      type: 'string',
      format: 'date-time',
      description: 'the time at which it was made, to the tick of the layout',
    },
    timestampMs: { type: 'integer', description: 'the same time in milliseconds since 1970' },
    node: { ...number, description: 'all node fields as one number' },
    fields: { type: 'object', description: 'each node field', additionalProperties: number },
    tags: { type: 'object', description: 'each tag, if the layout has tags', additionalProperties: number },
    sequence: { ...number, description: 'its number among the ids of its tick and node' },
  },
}
const example = {
  id: '2045881362063413248',
  layout: 'twitter',
  timestamp: '2026-04-19T15:05:02.010Z',
  timestampMs: 1776611102010,
  node: 541,
  fields: { datacenter: 16, worker: 29 },
  sequence: 0,
}
