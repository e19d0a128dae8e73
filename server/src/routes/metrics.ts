import cluster from 'node:cluster'
import type { FastifyInstance } from 'fastify'
import { contentType, textOf } from '../metrics/family.js'
import type { Metrics } from '../metrics/metrics.js'
import { Colleagues } from '../metrics/workers.js'
import type { Options } from '../options/table.js'
import type { Service } from '../service.js'

/** `/metrics` for Prometheus: of all workers, whichever of them is asked. */
export function addMetricsRoutes(
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
