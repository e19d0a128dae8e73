import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import pino from 'pino'
import { Metrics } from '../metrics/metrics.js'
import type { Options } from '../options/table.js'
import { addHealthRoutes } from '../routes/health.js'
import { addIdRoutes } from '../routes/ids.js'
import { addMetricsRoutes } from '../routes/metrics.js'
import type { Service } from '../service.js'
import { Problem, refusalOf } from './problems.js'

/** The service over HTTP; it does not listen yet. */
export async function makeApp(
  options: Options,
  service: Service,
  metrics: Metrics = new Metrics(),
): Promise<FastifyInstance> {
  const logger: FastifyBaseLogger = pino({ level: options.logLevel }, process.stderr)
  const app = fastify({
    loggerInstance: logger,
    disableRequestLogging: true,
    keepAliveTimeout: options.keepAliveMs,
    requestTimeout: options.requestTimeoutMs,
    bodyLimit: 1,
  })
  app.setErrorHandler((error, request, reply) => {
    const { status, headers, body } = refusalOf(error)
    if (status === 500) request.log.error(error)
    return reply.code(status).headers(headers).send(body)
  })
  app.setNotFoundHandler(() => {
    throw new Problem('ERR_ROUTE_UNKNOWN', 'there is no such path; /openapi.json lists those that there are')
  })
  addHealthRoutes(app, service)
  addMetricsRoutes(app, service, options, metrics)
  addIdRoutes(app, service, options.maxCount)
  return app
}
