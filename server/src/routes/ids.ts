import type { FastifyInstance, FastifyRequest } from 'fastify'
import { encodeId } from 'graupel'
import { shown } from '../failure.js'
import type { DirectRoute } from '../http/direct.js'
import { documented } from '../http/documentation.js'
import { idCountOf, Load, limitsFor } from '../http/load.js'
import { hasTexts, mediaTypes } from '../http/media.js'
import { bodyOf, bodyOfOne, bodyOfTexts, type NumberKind, numbersOfTexts } from '../http/number-body.js'
import { formatOf, formOf, type HeadersByForm, headersWith, numbersAnswer } from '../http/number-form.js'
import { oneOf, readQuery, wholeNumber } from '../http/parameters.js'
import { Problem } from '../http/problems.js'
import { runRuleOf } from '../http/runs.js'
import { type TakingLog, takerOf } from '../http/taking-log.js'
import { clientOf } from '../http/tokens.js'
import type { Options } from '../options/table.js'
import type { Service } from '../service.js'
import type { IdSource } from '../sources/id-source.js'
import { afterParameter, lastIdHeader, readAfter } from './after.js'
import { needsTags, parameterOf, readTags, tagParameters, tagsInQuery } from './tags.js'
import { idEncodings, kindParameter, textsOf } from './texts.js'

/** A layout of the service, with the objects that its answers need. */
export interface ServedLayout {
  readonly source: IdSource
  /** The most ids of a request. */
  readonly maxCount: number
  readonly load: Load
  readonly headers: HeadersByForm
  readonly numbers: NumberKind
}

/** The layouts of the service by their names. The first is the default. */
export type ServedLayouts = ReadonlyMap<string, ServedLayout>

export function servedLayoutsOf({ ids }: Service, options: Options): ServedLayouts {
  const servedOf = (name: string, source: IdSource): ServedLayout => {
    const { idsPerSecond } = source.layout
    const maxCount = idCountOf(idsPerSecond, options)
    return {
      source,
      maxCount,
      load: new Load(limitsFor(idsPerSecond, maxCount, options.maxConnections)),
      headers: headersWith({ 'graupel-layout': name }),
      numbers: { key: 'ids', runs: runRuleOf(source.layout) },
    }
  }
  return new Map([...ids].map(([name, source]) => [name, servedOf(name, source)]))
}

/**
 * Returns the route of one id of the default layout, without parameters; `undefined` if such a request is
 * refused, because the layout has a tag without a default.
 */
export function directIdRoute(layouts: ServedLayouts): DirectRoute | undefined {
  const { source, load, headers } = layouts.values().next().value as ServedLayout
  if (needsTags(source.layout)) return undefined
  return { url: '/v1/ids', headers: headers.json, load, next: () => source.next(), body: (id) => `{"ids":["${id}"]}` }
}

export function addIdRoutes(
  app: FastifyInstance,
  layouts: ServedLayouts,
  { kinds }: Service,
  takings: TakingLog | undefined,
): void {
  const maxCount = Math.max(...Array.from(layouts.values(), (layout) => layout.maxCount))
  const [firstName] = [...layouts.keys()] as [string]
  const ofTags = tagParameters([...layouts.values()].map(({ source }) => source.layout))
  const hasTags = Object.keys(ofTags).length > 0
  const parameters = {
    count: {
      ...wholeNumber('how many ids; at most those that a node makes of the layout in 10 s', 1, maxCount, 1),
      // The maximum depends on the layout.
      read: (_: string, text: string) => text,
    },
    format: formatOf('ids', idEncodings),
    layout: oneOf('the layout of the ids', [...layouts.keys()], firstName),
    after: afterParameter,
    ...kindParameter(kinds),
    // Read by tagsInQuery().
    ...(ofTags as Readonly<Record<never, never>>),
  }
  const served = (name = firstName) => layouts.get(name) as ServedLayout
  const asked = (request: FastifyRequest) => {
    const { count: countText, after, ...query } = readQuery(parameters, request.query)
    const { representation, encoding: given } = formOf(query.format, request.headers.accept)
    const encoding = given === 'uuid' ? ('decimal' as const) : given
    const texts = textsOf(query, kinds, served(query.layout).source.layout)
    if (texts !== undefined && !hasTexts(representation)) {
      throw new Problem(
        'ERR_OPTION_INVALID',
        `Accept asks for ${representation}, and ids of the kind ${shown(query.kind)} are texts; accept ${mediaTypes.json} or ${mediaTypes.text}`,
      )
    }
    const layout = served(texts?.layout.name ?? query.layout)
    const count = countText === undefined ? 1 : wholeNumber('count', 1, layout.maxCount).read('count', countText)
    const observe = after === undefined ? after : readAfter('after', after, encoding, layout.source.layout, texts)
    const tags = hasTags ? readTags(layout.source.layout, tagsInQuery(request.query), parameterOf) : 0n
    return { count, ...layout, representation, texts, encoding, observe, tags }
  }

  const documentation = documented({
    operationId: 'getIds',
    summary: 'New ids, which no other request gets',
    description:
      'The ids of one answer ascend, and so do UUIDs. Texts of an opaque kind show no order. HEAD uses up none.',
    tag: 'ids',
    query: parameters,
    answers: {
      200: numbersAnswer('id', maxCount, ['2045881362063413248', '2045881362063413249'], {
        'Graupel-Layout': 'the layout of the ids',
        'Graupel-Last-Id': 'the largest id, only if the request has after; the after of a later request',
      }),
    },
    problems: [
      'ERR_LAYOUT_INVALID',
      'ERR_ID_INVALID',
      'ERR_CLOCK_SKEW',
      'ERR_LEASE_EXPIRED',
      'ERR_CLOCK_ROLLBACK',
      'ERR_CLOCK_BEFORE_EPOCH',
      'ERR_LAYOUT_EXPIRED',
      'ERR_SEQUENCE_OVERFLOW',
      'ERR_OVERLOADED',
      'ERR_CLOSED',
      'ERR_STANDBY',
    ],
  })
  // Before GET, because Fastify would add a HEAD that uses ids up as GET does.
  app.head('/v1/ids', documentation, (request, reply) => {
    const { source, headers, representation } = asked(request)
    source.check()
    return reply.headers(headers[representation]).send()
  })
  app.get('/v1/ids', documentation, async (request, reply) => {
    const { count, source, load, headers, numbers, representation, encoding, texts, observe, tags } = asked(request)
    clientOf(request.raw)?.takeIds(count)
    const record = (ids: BigUint64Array) =>
      takings?.add(takerOf(request), { kind: 'id', name: source.layout.name }, ids, numbers.runs)
    let last = ''
    const bodyOfMany = async () => {
      observe?.(source)
      if (texts === undefined) {
        const ids = await source.fill(new BigUint64Array(count), tags)
        record(ids)
        if (observe !== undefined) last = encodeId(ids[count - 1] as bigint, encoding)
        return bodyOf(ids, representation, encoding, numbers)
      }
      const textAt = await texts.make(source, count, tags)
      if (observe !== undefined) last = textAt(count - 1)
      if (takings !== undefined) record(await numbersOfTexts(count, (index) => texts.id(textAt(index))))
      return bodyOfTexts(count, representation as 'json' | 'text', numbers.key, textAt)
    }
    let body: string | Buffer
    if (count === 1 && observe === undefined && texts === undefined) {
      const id = (await nextOf(source, load)) | tags
      record(BigUint64Array.of(id))
      body = await bodyOfOne(id, representation, encoding, numbers)
    } else {
      body = await load.holdUntilMade(count, request.raw, bodyOfMany)
    }
    reply.headers(headers[representation])
    if (observe !== undefined) reply.header(lastIdHeader, last)
    return body
  })
}

/** Makes one id, and counts the request meanwhile. @throws Problem `ERR_OVERLOADED`; as `source.next` */
export async function nextOf(source: IdSource, load: Load): Promise<bigint> {
  load.enter()
  try {
    return await source.next()
  } finally {
    load.leave()
  }
}
