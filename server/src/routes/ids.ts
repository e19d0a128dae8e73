import type { FastifyInstance } from 'fastify'
import type { TextEncoding } from 'graupel'
import { Load, limitsFor } from '../http/load.js'
import { bodyOf, bodyOfOne } from '../http/number-body.js'
import { oneOf, readQuery, wholeNumber } from '../http/parameters.js'
import { Problem } from '../http/problems.js'
import { contentTypes, type Representation, representationOf } from '../http/representation.js'
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

export function addIdRoutes(app: FastifyInstance, service: Service, options: Options): void {
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
  const [byDefault] = kinds.values()

  app.get('/v1/ids', async (request, reply) => {
    const { count = 1, format, layout } = readQuery(parameters, request.query)
    const { source, load, headers } = (layout === undefined ? byDefault : kinds.get(layout)) as Kind
    const { representation, encoding } = formOf(format, request.headers.accept)
    let body: string | Buffer
    if (count === 1) {
      load.enter()
      try {
        body = bodyOfOne(await source.next(), representation, encoding, 'ids')
      } finally {
        load.leave()
      }
    } else {
      load.hold(count, request.raw)
      body = await bodyOf(await source.fill(count), representation, encoding, 'ids')
    }
    reply.headers(headers[representation])
    return body
  })
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
