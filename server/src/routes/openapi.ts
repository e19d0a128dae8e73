import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { documented, problemSchema, swaggerSchemaOf } from '../http/documentation.js'
import { contentTypes, mediaTypes, sharedHeadersOf } from '../http/media.js'
import { readQuery, representationOf } from '../http/parameters.js'

/** The version of the routes, as in /v1. Clients need not know the version of the service. */
const version = '1.0.0'

const tags = [
  { name: 'ids', description: 'Snowflake ids and their parts' },
  { name: 'segments', description: 'Ascending numbers, which a store hands out in segments' },
  { name: 'counters', description: 'Counts without gaps' },
  { name: 'store', description: 'Records with compare-and-swap, by which clients lease nodes: with --leases' },
  { name: 'leaf', description: "The routes of Meituan's Leaf, with its answers" },
  { name: 'service', description: 'For the platform that runs the service' },
]

/**
 * Adds the OpenAPI document of the routes that are added after it, and the route that returns it.
 *
 * @param isTokenNeeded - Whether clients need a bearer token.
 */
export async function addOpenApi(app: FastifyInstance, isTokenNeeded: boolean): Promise<void> {
  app.addSchema(problemSchema)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'graupel-server',
        version,
        description:
          'Ids that cannot be equal, numbers and counts over HTTP. A refusal is application/problem+json; the routes of Leaf refuse as Leaf does. A parameter that is unknown or given twice is refused.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags,
      security: isTokenNeeded ? [{ token: [] }] : [],
      ...(isTokenNeeded && { components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } } }),
    },
    exposeHeadRoutes: true,
    refResolver: { buildLocalReference: (json) => `${json['$id']}` },
    transform: ({ route, url }) => {
      const documentation = route.config?.documentation
      return {
        schema:
          documentation === undefined
            ? { hide: true }
            : swaggerSchemaOf(documentation, route.method === 'HEAD', isTokenNeeded),
        url,
      }
    },
  })

  let text: string | undefined
  app.get(
    '/openapi.json',
    documented({
      operationId: 'getOpenApi',
      summary: 'This document',
      tag: 'service',
      query: {},
      answers: {
        200: { description: 'OpenAPI 3.1', content: { [mediaTypes.json]: { schema: { type: 'object' } } } },
      },
    }),
    (request, reply) => {
      readQuery({}, request.query)
      representationOf(request.headers.accept, ['json'])
      text ??= JSON.stringify(app.swagger())
      return reply.headers(sharedHeadersOf(contentTypes.json)).send(text)
    },
  )
}
