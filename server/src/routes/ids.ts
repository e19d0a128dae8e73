import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { DirectRoute } from '../http/direct.js'
import { documented } from '../http/documentation.js'
import { Load, limitsFor } from '../http/load.js'
import { bodyOf, bodyOfOne } from '../http/number-body.js'
import { formatOf, formOf, type HeadersByForm, headersWith, numbersAnswer } from '../http/number-form.js'
import { oneOf, readQuery, wholeNumber } from '../http/parameters.js'
import type { Options } from '../options/table.js'
import type { Service } from '../service.js'
import type { IdSource } from '../sources/id-source.js'

/** A layout of the service, with what its answers need. */
interface Kind {
  readonly source: IdSource
  readonly load: Load
  readonly headers: HeadersByForm
}

/** @returns The route of one id without parameters. */
export function addIdRoutes(app: FastifyInstance, service: Service, options: Options): Omit<DirectRoute, 'onAnswer'> {
  const { maxCount, maxConnections } = options
  const parameters = {
    count: wholeNumber('how many ids', 1, maxCount, 1),
    format: formatOf('ids'),
    layout: oneOf('how ids are made up', [...service.ids.keys()], service.ids.keys().next().value as string),
  }
  const kinds = new Map(
    [...service.ids].map(([name, source]): [string, Kind] => [
      name,
      {
        source,
        load: new Load(limitsFor(source.layout.idsPerSecond, maxCount, maxConnections)),
        headers: headersWith({ 'graupel-layout': name }),
      },
    ]),
  )
  const byDefault = kinds.values().next().value as Kind
  const asked = (request: FastifyRequest) => {
    const { count = 1, format, layout } = readQuery(parameters, request.query)
    const kind = (layout === undefined ? byDefault : kinds.get(layout)) as Kind
    return { count, ...kind, ...formOf(format, request.headers.accept) }
  }

  const documentation = documented({
    operationId: 'getIds',
    summary: 'New ids, which no other request gets',
    description: 'The ids of one answer ascend. HEAD uses up none.',
    tag: 'ids',
    query: parameters,
    answers: {
      200: numbersAnswer('id', maxCount, ['2045881362063413248', '2045881362063413249'], {
        'Graupel-Layout': 'how the ids are made up',
      }),
    },
    problems: [
      'ERR_LEASE_EXPIRED',
      'ERR_CLOCK_ROLLBACK',
      'ERR_CLOCK_BEFORE_EPOCH',
      'ERR_LAYOUT_EXPIRED',
      'ERR_SEQUENCE_OVERFLOW',
      'ERR_OVERLOADED',
      'ERR_CLOSED',
    ],
  })
  // Before the other: Fastify would make one that answers as GET, and uses ids up.
  app.head('/v1/ids', (request, reply) => {
    const { source, headers, representation } = asked(request)
    source.check()
    return reply.headers(headers[representation]).send()
  })
  app.get('/v1/ids', documentation, async (request, reply) => {
    const { count, source, load, headers, representation, encoding } = asked(request)
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
