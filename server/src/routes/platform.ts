import cluster from 'node:cluster'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { contentType, textOf } from '../metrics/family.js'
import type { Metrics } from '../metrics/metrics.js'
import { Colleagues } from '../metrics/workers.js'
import type { Options } from '../options/table.js'
import type { Service } from '../service.js'

/**
 * Adds `/livez` and `/readyz`. `/livez` only shows that the event loop turns, because a restart repairs nothing else. `/readyz` tells
 * whether the service can make ids, and why not. It does not ask the store: the leases notice within two thirds of a window that the store
 * is away, and until then segments have numbers left. It ignores parameters, so a probe with a wrong one does not take a pod out.
 */
export function addHealthRoutes(app: FastifyInstance, service: Service): void {
  app.get('/livez', (_, reply) => noStore(reply).type('text/plain').send('ok\n'))
  app.get('/readyz', (request, reply) => {
    const reasons = service.reasons()
    const isReady = reasons.length === 0
    noStore(reply).code(isReady ? 200 : 503)
    if (request.headers.accept?.includes('application/json')) return reply.send({ ready: isReady, reasons })
    return reply.type('text/plain').send(`${isReady ? 'ok' : reasons.join('\n')}\n`)
  })
}

function noStore(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store')
}

/** Adds `/metrics` for Prometheus. Any worker answers for all workers. */
export function addMetricsRoute(
  app: FastifyInstance,
  service: Service,
  options: Pick<Options, 'windowMs'>,
  metrics: Metrics,
): void {
  const own = () => metrics.families(service, options)
  const colleagues = cluster.isWorker ? new Colleagues(own) : undefined
  app.addHook('onResponse', (request, reply, done) => {
    metrics.requests.observe(request, reply)
    done()
  })
  app.addHook('onClose', async () => colleagues?.close())
  app.get('/metrics', async (_, reply) => {
    const families = await (colleagues?.families() ?? own())
    return reply
      .header('cache-control', 'no-store')
      .type(contentType)
      .send(await textOf(families))
  })
}
