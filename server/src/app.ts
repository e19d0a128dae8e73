import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { type Pair, pairOf, reportDates, reportDatesDaily } from './http/certificate.js'
import { ConnectionLimit } from './http/connection-limit.js'
import { endAfter, makeServer, refuseConnection } from './http/connections.js'
import { directly } from './http/direct.js'
import {
  accessCheck,
  type Gate,
  hasBody,
  makeGate,
  maxAdminConnections,
  onlyAdminPaths,
  Paths,
  unknownRoute,
} from './http/gate.js'
import type { NumberLoads } from './http/load.js'
import { givenIdOf, loggedPath, makeLogger, newRequestId, RefusalLog, requestIdOf } from './http/log.js'
import { stderrOutput } from './http/log-output.js'
import { refusalOf } from './http/problems.js'
import { TakingLog } from './http/taking-log.js'
import { Tokens } from './http/tokens.js'
import { WatchedFiles } from './http/watched-files.js'
import type { Durations } from './metrics/family.js'
import { certificateFamilies, connectionFamilies, fileFamilies, logFamilies, Metrics } from './metrics/metrics.js'
import type { Options } from './options/table.js'
import { RespServer } from './resp/server.js'
import { decoderOf, readableOf } from './routes/decode.js'
import { directIdRoute, type ServedLayouts, servedLayoutsOf } from './routes/ids.js'
import { addRoutes, numberLoadsOf, openPaths } from './routes/index.js'
import type { Service } from './service.js'

/** More than a value of 4096 characters has in JSON, each of which may be an escape of six bytes. */
const maxBodyLength = 32_768

/** More than the longest name of a segment has in percent encoding. */
const maxParamLength = 512

/** The service over HTTP. */
export interface App {
  readonly app: FastifyInstance
  /** The server of `--admin-port`, if there is one. */
  readonly admin: Server | undefined
  /** The server of `--resp`, if there is one. */
  readonly resp: RespServer | undefined
}

/** The objects that the servers of a process share. */
interface Parts {
  readonly options: Options
  readonly service: Service
  readonly metrics: Metrics
  readonly logger: Logger
  /** The tokens of `--token-file`. */
  readonly tokens: WatchedFiles<Tokens> | undefined
  /** The certificate and its key. */
  readonly pair: WatchedFiles<Pair> | undefined
  readonly paths: Paths
  readonly gate: Gate
  readonly layouts: ServedLayouts
  readonly refusals: RefusalLog
  readonly loads: NumberLoads
  readonly takings: TakingLog | undefined
}

/**
 * Makes the service over HTTP. It does not listen yet. @param pollMs - How often files are read
 * again. @throws StartError
 */
export async function makeApp(
  options: Options,
  service: Service,
  metrics: Metrics = new Metrics(),
  logger: Logger = makeLogger(options, undefined, service.opened.hide),
  pollMs?: number,
): Promise<App> {
  const { tokenFile, tlsCert, tlsKey } = options
  const tokens =
    tokenFile === undefined
      ? undefined
      : await WatchedFiles.open('--token-file', [tokenFile], ([text]) => new Tokens(`${text}`), logger, pollMs)
  const pair =
    tlsCert === undefined || tlsKey === undefined
      ? undefined
      : await WatchedFiles.open('--tls-cert and --tls-key', [tlsCert, tlsKey], pairOf, logger, pollMs)

  const paths = new Paths()
  const gate = makeGate(accessCheck(options, tokens), openPaths, paths)
  const layouts = servedLayoutsOf(service, options)
  const refusals = new RefusalLog(logger)
  const loads = numberLoadsOf(options)
  const takings = options.logIds ? new TakingLog(logger) : undefined
  const parts = {
    ...{ options, service, metrics, logger, tokens, pair, paths, gate, layouts, refusals, loads, takings },
  }
  const app = makeFastify(parts)
  const others = addServers(app, parts)
  await addRoutes(app, {
    ...{ service, options, metrics, refusals, layouts, loads, takings },
    isTokenNeeded: tokens !== undefined,
  })
  return { app, ...others }
}

/** Makes Fastify with the hooks that each request passes. It has no routes yet. */
function makeFastify({
  options,
  service,
  metrics,
  logger,
  pair,
  paths,
  gate,
  layouts,
  refusals,
}: Parts): FastifyInstance {
  const direct = directIdRoute(layouts)
  let directTimes: Durations | undefined
  const onDirect = (ms: number) => {
    directTimes ??= metrics.requests.durationsOf(direct?.url, 200)
    directTimes.add(ms)
  }
  const isVerbose = logger.isLevelEnabled('debug')
  const isPlain = () => !isVerbose && !options.logIds && !service.isStopping
  const refuse = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const { status, code, headers, body } = refusalOf(error)
    refusals.add(request, status, code, error)
    if (hasBody(request.raw)) endAfter(reply.raw)
    return reply.code(status).headers(headers).header('x-request-id', request.id).send(body)
  }
  const app = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    // A logger for each request would cost more than the request. Lines of the service name the request
    // themselves.
    childLoggerFactory: (parent) => parent,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    routerOptions: { maxParamLength },
    frameworkErrors: refuse,
    clientErrorHandler: clientErrorHandler(logger),
    serverFactory: (handler) =>
      makeServer(
        options,
        pair?.value,
        handler,
        (next) => (direct === undefined ? next : directly(direct, gate.checkKnown, isPlain, onDirect, next)),
        () => service.isStopping,
      ),
  })
  app.addHook('onRoute', ({ method, url }) => {
    if (method === 'GET') paths.add(url)
    if (method === 'POST') paths.addPost(url)
  })
  // Bodies are JSON, whatever their type says. The route parses them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: maxBodyLength }, (_, body, done) => done(null, body))
  app.addHook('onRequest', (request, reply, done) => {
    gate.check(request.raw, request.routeOptions.url)
    // The client waits for this answer before it sends the body.
    if (request.raw.headers.expect !== undefined && hasBody(request.raw)) reply.raw.writeContinue()
    if (givenIdOf(request.raw) !== undefined) reply.header('x-request-id', request.id)
    done()
  })
  if (isVerbose) {
    app.addHook('onResponse', (request, reply, done) => {
      const { method, url } = request.raw
      const line = { reqId: request.id, method, url: loggedPath(url), status: reply.statusCode, ms: reply.elapsedTime }
      logger.debug(line, 'a request')
      done()
    })
  }
  app.setErrorHandler(refuse)
  app.setNotFoundHandler(({ raw }) => {
    throw unknownRoute(raw.url, paths)
  })
  return app
}

/** Makes the servers of `--resp` and `--admin-port`. Limits connections, renews certificates. */
function addServers(app: FastifyInstance, parts: Parts): Pick<App, 'admin' | 'resp'> {
  const { options, service, metrics, logger, tokens, pair, layouts, refusals, loads, takings } = parts
  const [decode, readable] = [decoderOf(service), readableOf(service)]
  const respSources = { service, options, layouts, loads, decode, readable, tokens, takings }
  const resp =
    options.resp === undefined
      ? undefined
      : new RespServer(pair?.value, { sources: respSources, requests: metrics.requests, refusals })
  const servers = resp === undefined ? [app.server] : [app.server, resp.server]
  const connections = new ConnectionLimit(servers, options.maxConnections, '--max-connections', logger)
  const answer = (request: IncomingMessage, response: ServerResponse) => app.routing(request, response)
  const admin =
    options.adminPort === undefined
      ? undefined
      : makeServer(
          options,
          pair?.value,
          onlyAdminPaths(answer),
          (next) => next,
          () => service.isStopping,
        )
  if (admin !== undefined) {
    admin.on('clientError', clientErrorHandler(logger))
    new ConnectionLimit([admin], maxAdminConnections, `${maxAdminConnections} of --admin-port`, logger, 'oldest')
  }
  if (pair !== undefined) {
    const stopReports = reportDatesDaily(() => pair.value, logger)
    app.addHook('onClose', async () => stopReports())
    pair.onChange = (value) => {
      reportDates(value, logger)
      for (const server of [...servers, admin]) (server as unknown as TlsServer | undefined)?.setSecureContext(value)
    }
  }
  metrics.add(() => connectionFamilies(connections))
  metrics.add(() => logFamilies(stderrOutput()))
  metrics.add(() => fileFamilies([tokens, pair].filter((one) => one !== undefined)))
  metrics.add(() => certificateFamilies(pair?.value))
  app.addHook('onClose', async () => {
    tokens?.close()
    pair?.close()
  })
  return { admin, resp }
}

function clientErrorHandler(logger: Logger) {
  return (error: NodeJS.ErrnoException, socket: Socket) => {
    const reqId = newRequestId()
    logger.debug({ reqId, code: error.code, remote: socket.remoteAddress }, 'a connection was refused')
    refuseConnection(error, socket, reqId)
  }
}
