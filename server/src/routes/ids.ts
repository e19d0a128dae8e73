import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { DirectRoute } from '../http/direct.js'
import { documented } from '../http/documentation.js'
import { Load, limitsFor } from '../http/load.js'
import { bodyOf, bodyOfOne, type NumberKind } from '../http/number-body.js'
import { formatOf, formOf, type HeadersByForm, headersWith, numbersAnswer } from '../http/number-form.js'
import { oneOf, readQuery, wholeNumber } from '../http/parameters.js'
import { runRuleOf } from '../http/runs.js'
import type { Options } from '../options/table.js'
import type { Service } from '../service.js'
import type { IdSource } from '../sources/id-source.js'

/** A layout of the service, with the objects that its answers need. */
interface IdKind {
  readonly source: IdSource
  readonly load: Load
  readonly headers: HeadersByForm
  readonly numbers: NumberKind
}

/** The layouts of the service by their names. The first is the default. */
export type IdKinds = ReadonlyMap<string, IdKind>

export function idKindsOf({ ids }: Service, { maxCount, maxConnections }: Options): IdKinds {
  return new Map(
    [...ids].map(([name, source]): [string, IdKind] => [
      name,
      {
        source,
        load: new Load(limitsFor(source.layout.idsPerSecond, maxCount, maxConnections)),
        headers: headersWith({ 'graupel-layout': name }),
        numbers: { key: 'ids', runs: runRuleOf(source.layout) },
      },
    ]),
  )
}

/** Returns the route of one id of the default layout, without parameters. */
export function directIdRoute(kinds: IdKinds): DirectRoute {
  const { source, load, headers } = kinds.values().next().value as IdKind
  return {
    url: '/v1/ids',
    headers: headers.json,
    body: async () => `{"ids":["${await nextOf(source, load)}"]}`,
  }
}

export function addIdRoutes(app: FastifyInstance, kinds: IdKinds, { maxCount }: Options): void {
  const [[firstName, byDefault]] = [...kinds] as [[string, IdKind]]
  const parameters = {
    count: wholeNumber('how many ids', 1, maxCount, 1),
    format: formatOf('ids'),
    layout: oneOf('the layout of the ids', [...kinds.keys()], firstName),
  }
  const asked = (request: FastifyRequest) => {
    const { count = 1, format, layout } = readQuery(parameters, request.query)
    const kind = (layout === undefined ? byDefault : kinds.get(layout)) as IdKind
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
        'Graupel-Layout': 'the layout of the ids',
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
  // Before GET, because Fastify would add a HEAD that uses ids up as GET does.
  app.head('/v1/ids', documentation, (request, reply) => {
    const { source, headers, representation } = asked(request)
    source.check()
    return reply.headers(headers[representation]).send()
  })
  app.get('/v1/ids', documentation, async (request, reply) => {
    const { count, source, load, headers, numbers, representation, encoding } = asked(request)
    let body: string | Buffer
    if (count === 1) {
      body = await bodyOfOne(await nextOf(source, load), representation, encoding, numbers)
    } else {
      load.hold(count, request.raw)
      body = await bodyOf(await source.fill(count), representation, encoding, numbers)
    }
    reply.headers(headers[representation])
    return body
  })
}

async function nextOf(source: IdSource, load: Load): Promise<bigint> {
  load.enter()
  try {
    return await source.next()
  } finally {
    load.leave()
  }
}
