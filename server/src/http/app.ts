import type { Server as TlsServer } from 'node:tls'
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { Metrics } from '../metrics/metrics.js'
import type { Options } from '../options/table.js'
import { addCounterRoutes } from '../routes/counters.js'
import { addDecodeRoutes } from '../routes/decode.js'
import { addFrontRoute } from '../routes/front.js'
import { addHealthRoutes } from '../routes/health.js'
import { addIdRoutes } from '../routes/ids.js'
import { addLeafRoutes } from '../routes/leaf.js'
import { addMetricsRoutes } from '../routes/metrics.js'
import { addOpenApi } from '../routes/openapi.js'
import { addSegmentRoutes } from '../routes/segments.js'
import type { Service } from '../service.js'
import { accessCheck } from './access.js'
import { knownMethods, refuseConnect, refuseConnection } from './connection-errors.js'
import { directly } from './direct.js'
import { hasBody, makeGate, Paths, unknownRoute } from './gate.js'
import { givenIdOf, makeLogger, RefusalLog, requestIdOf } from './log.js'
import { refusalOf } from './problems.js'
import { pairOf } from './tls.js'
import { Tokens } from './tokens.js'
import { WatchedFiles } from './watched-file.js'

const maxHeaderSize = 8192
/** A connection on which nothing moves for so long is closed, also where it does not read its answer. */
const stalledMs = 60_000
/** Longer than the longest name of a segment in percent encoding. */
const maxParamLength = 512

/** The service over HTTP; it does not listen yet. @param pollMs - How often files are looked at. @throws StartError */
export async function makeApp(
  options: Options,
  service: Service,
  metrics: Metrics = new Metrics(),
  logger: Logger = makeLogger(options, undefined, service.opened.hide),
  pollMs?: number,
): Promise<FastifyInstance> {
  const { tokenFile, tlsCert, tlsKey, requestTimeoutMs, keepAliveMs } = options
  const tokens =
    tokenFile === undefined
      ? undefined
      : new WatchedFiles('--token-file', [tokenFile], ([text]) => new Tokens(`${text}`), logger, pollMs)
  const pair =
    tlsCert === undefined || tlsKey === undefined
      ? undefined
      : new WatchedFiles('--tls-cert and --tls-key', [tlsCert, tlsKey], pairOf, logger, pollMs)
  const serverOptions = {
    maxHeaderSize,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
    // The gate says so, with a problem.
    requireHostHeader: false,
  }
  const refusals = new RefusalLog(logger)
  const refuse = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const { status, code, headers, body } = refusalOf(error)
    refusals.add(request, status, code, error)
    if (hasBody(request.raw)) reply.header('connection', 'close')
    return reply.code(status).headers(headers).header('x-request-id', request.id).send(body)
  }
  const app = fastify({
    loggerInstance: logger,
    // A logger of its own for each request would cost more than the rest of it; lines of the service name the request themselves.
    childLoggerFactory: (parent) => parent,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: stalledMs,
    routerOptions: { maxParamLength },
    frameworkErrors: refuse,
    clientErrorHandler: (error, socket) => {
      logger.debug({ code: error.code, remote: socket.remoteAddress }, 'a connection was refused')
      refuseConnection(error, socket)
    },
    ...(pair === undefined ? { http: serverOptions } : { https: { ...serverOptions, ...pair.value } }),
  }) as unknown as FastifyInstance
  const { server } = app
  server.maxConnections = options.maxConnections
  server.on('connect', refuseConnect)
  const route = knownMethods(app.routing)
  // Where a client asks whether to send its body: nothing is said but the answer, because there is none to send.
  server.on('checkContinue', route).on('checkExpectation', route)
  if (pair !== undefined) {
    pair.onChange = (value) => (server as unknown as TlsServer).setSecureContext(value)
  }
  app.addHook('onClose', async () => {
    tokens?.close()
    pair?.close()
  })

  const paths = new Paths()
  const gate = makeGate(accessCheck(options, tokens), paths)
  app.addHook('onRoute', ({ method, url }) => {
    if (method === 'GET') paths.add(url)
  })
  app.addHook('onRequest', (request, reply, done) => {
    gate(request.raw)
    if (givenIdOf(request.raw) !== undefined) reply.header('x-request-id', request.id)
    done()
  })
  const isVerbose = logger.isLevelEnabled('debug')
  if (isVerbose) {
    app.addHook('onResponse', (request, reply, done) => {
      const { method, url } = request.raw
      logger.debug({ reqId: request.id, method, url, status: reply.statusCode, ms: reply.elapsedTime }, 'a request')
      done()
    })
  }
  app.setErrorHandler(refuse)
  app.setNotFoundHandler(() => {
    throw unknownRoute()
  })
  await addOpenApi(app, tokens !== undefined)
  addFrontRoute(app)
  addHealthRoutes(app, service)
  addMetricsRoutes(app, service, options, metrics)
  const one = addIdRoutes(app, service, options)
  addDecodeRoutes(app, service)
  addSegmentRoutes(app, service, options)
  addCounterRoutes(app, service)
  addLeafRoutes(app, service, refusals)

  const onAnswer = (ms: number) => metrics.requests.add(one.url, 200, ms)
  server.removeListener('request', app.routing)
  server.on(
    'request',
    directly({ ...one, onAnswer }, gate, () => !isVerbose && !service.isStopping, route),
  )
  return app
}
