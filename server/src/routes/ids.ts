import type { FastifyInstance } from 'fastify'
import type { TextEncoding } from 'graupel'
import type { DirectRoute } from '../http/direct.js'
import { type Answer, documented } from '../http/documentation.js'
import { Load, limitsFor } from '../http/load.js'
import { bodyOf, bodyOfOne } from '../http/number-body.js'
import { oneOf, readQuery, wholeNumber } from '../http/parameters.js'
import { Problem } from '../http/problems.js'
import { contentTypes, mediaTypes, type Representation, representationOf } from '../http/representation.js'
import type { Options } from '../options/table.js'
import type { Service } from '../service.js'
import type { IdSource } from '../sources/id-source.js'

const representations = ['json', 'text', 'bytes'] as const
const textEncodings = ['decimal', 'hex', 'base32', 'base58', 'base62'] as const satisfies readonly TextEncoding[]

/** A layout of the service, with what its answers need. */
interface Kind {
  readonly source: IdSource
  readonly load: Load
  readonly headers: Readonly<Record<Representation, Readonly<Record<string, string>>>>
}

/** @returns The route of one id without parameters. */
export function addIdRoutes(app: FastifyInstance, service: Service, options: Options): Omit<DirectRoute, 'onAnswer'> {
  const { maxCount, maxConnections } = options
  const parameters = {
    count: wholeNumber('how many ids', 1, maxCount, 1),
    format: oneOf(
      'how ids are written; json, text and bytes choose the representation where a client cannot set Accept',
      [...textEncodings, ...representations],
      'decimal',
    ),
    layout: oneOf('how ids are made up', [...service.ids.keys()], service.ids.keys().next().value as string),
  }
  const kinds = new Map(
    [...service.ids].map(([name, source]): [string, Kind] => [
      name,
      {
        source,
        load: new Load(limitsFor(source.layout.idsPerSecond, maxCount, maxConnections)),
        headers: headersOf(name),
      },
    ]),
  )
  const byDefault = kinds.values().next().value as Kind

  const documentation = documented({
    operationId: 'getIds',
    summary: 'New ids, which no other request gets',
    description: 'The ids of one answer ascend. HEAD uses up ids as GET does.',
    tag: 'ids',
    query: parameters,
    answers: { 200: answerOf(maxCount) },
    problems: ['ERR_LEASE_EXPIRED', 'ERR_CLOCK_ROLLBACK', 'ERR_OVERLOADED', 'ERR_CLOSED'],
  })
  app.get('/v1/ids', documentation, async (request, reply) => {
    const { count = 1, format, layout } = readQuery(parameters, request.query)
    const { source, load, headers } = (layout === undefined ? byDefault : kinds.get(layout)) as Kind
    const { representation, encoding } = formOf(format, request.headers.accept)
    let body: string | Buffer
    if (count === 1) {
      body = bodyOfOne(await nextOf(source, load), representation, encoding, 'ids')
    } else {
      load.hold(count, request.raw)
      body = await bodyOf(await source.fill(count), representation, encoding, 'ids')
    }
    reply.headers(headers[representation])
    return body
  })

  const { source, load, headers } = byDefault
  return {
    url: '/v1/ids',
    headers: headers.json,
    body: async () => `{"ids":["${await nextOf(source, load)}"]}`,
  }
}

async function nextOf(source: IdSource, load: Load): Promise<bigint> {
  load.enter()
  try {
    return await source.next()
  } finally {
    load.leave()
  }
}

type Format = (typeof textEncodings)[number] | Representation

interface Form {
  readonly representation: Representation
  readonly encoding: TextEncoding
}

const named: Readonly<Record<Representation, Form>> = {
  json: { representation: 'json', encoding: 'decimal' },
  text: { representation: 'text', encoding: 'decimal' },
  bytes: { representation: 'bytes', encoding: 'decimal' },
}

/** @throws Problem */
function formOf(format: Format | undefined, accept: string | undefined): Form {
  if (format === 'json' || format === 'text' || format === 'bytes') return named[format]
  const representation = representationOf(accept, representations)
  if (format === undefined) return named[representation]
  if (representation !== 'bytes') return { representation, encoding: format }
  throw new Problem(
    'ERR_OPTION_INVALID',
    `format is ${JSON.stringify(format)}, and Accept asks for bytes, which are no text; leave one of them out`,
  )
}

function headersOf(layout: string): Kind['headers'] {
  const shared = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'graupel-layout': layout }
  return {
    json: { 'content-type': contentTypes.json, ...shared },
    text: { 'content-type': contentTypes.text, ...shared },
    bytes: { 'content-type': contentTypes.bytes, ...shared, 'graupel-byte-order': 'little-endian' },
  }
}

function answerOf(maxCount: number): Answer {
  const ids = { type: 'array', minItems: 1, maxItems: maxCount, items: { type: 'string' } }
  return {
    description: 'The ids',
    headers: {
      'Graupel-Layout': 'how the ids are made up',
      'Graupel-Byte-Order': 'the order of the bytes of an id, where they are sent as bytes: little-endian',
    },
    content: {
      [mediaTypes.json]: {
        schema: { type: 'object', required: ['ids'], properties: { ids } },
        example: { ids: ['2045881362063413248', '2045881362063413249'] },
      },
      [mediaTypes.text]: {
        schema: { type: 'string', description: 'one id a line' },
        example: '2045881362063413248\n2045881362063413249\n',
      },
      [mediaTypes.bytes]: {
        schema: { type: 'string', format: 'binary', description: '8 bytes for each id, the least significant first' },
      },
    },
  }
}
