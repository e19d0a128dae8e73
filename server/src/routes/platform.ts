import cluster from 'node:cluster'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Colleagues } from '../colleagues.js'
import { contentType, type Family, joined, textOf } from '../metrics/family.js'
import type { LeaseFigures } from '../metrics/library.js'
import { type Metrics, workerFamilies } from '../metrics/metrics.js'
import type { Service } from '../service.js'
import { documentationOfLive, documentationOfMetrics, documentationOfReady } from './platform-documentation.js'

/**
 * Adds `/livez`, `/readyz` and `/metrics`. Any worker answers the last two for all workers. The three ignore
 * parameters, so a probe with a wrong one does not take a pod out.
 */
export function addPlatformRoutes(
  app: FastifyInstance,
  service: Service,
  options: LeaseFigures,
  metrics: Metrics,
): void {
  const own = { families: () => metrics.families(service, options), reasons: () => service.reasons() }
  const colleagues = cluster.isWorker ? new Colleagues(own) : undefined
  app.addHook('onClose', async () => colleagues?.close())
  addHealthRoutes(app, async () => {
    const reasons = own.reasons()
    return colleagues === undefined || reasons.length > 0 ? reasons : reasonsOfAll(colleagues)
  })

  app.addHook('onResponse', (request, reply, done) => {
    metrics.requests.observe(request, reply)
    done()
  })
  app.get('/metrics', documentationOfMetrics, async (_, reply) => {
    const families = colleagues === undefined ? await own.families() : await familiesOfAll(colleagues)
    // A process without workers is a service of one process that nobody starts again.
    const text = await textOf(colleagues === undefined ? [...families, ...workerFamilies([0])] : families)
    return noStore(reply).type(contentType).send(text)
  })
}

async function familiesOfAll(colleagues: Colleagues): Promise<Family[]> {
  const { answers, restarts } = await colleagues.ask('families')
  return [...joined(new Map(answers)), ...workerFamilies(restarts)]
}

/**
 * Returns the reasons why a worker that listens is not ready, each once, because the store is often the
 * reason of all.
 */
async function reasonsOfAll(colleagues: Colleagues): Promise<readonly string[]> {
  try {
    const { answers, silent } = await colleagues.ask('reasons')
    const late = silent.map((worker) => `worker ${worker} does not answer`)
    return [...new Set([...answers.flatMap(([, reasons]) => reasons), ...late])]
  } catch (error) {
    return [(error as Error).message]
  }
}

/**
 * Adds `/livez` and `/readyz`. `/livez` only shows that the event loop turns, because a restart repairs
 * nothing else. `/readyz` tells whether the service can make ids, and why not. It does not ask the store: the
 * leases notice within two thirds of a window that the store is away, and until then segments have numbers
 * left.
 */
function addHealthRoutes(app: FastifyInstance, reasonsNow: () => Promise<readonly string[]>): void {
  app.get('/livez', documentationOfLive, (_, reply) => noStore(reply).type('text/plain').send('ok\n'))
  app.get('/readyz', documentationOfReady, async (request, reply) => {
    const reasons = await reasonsNow()
    const isReady = reasons.length === 0
    noStore(reply).code(isReady ? 200 : 503)
    if (request.headers.accept?.includes('application/json')) return reply.send({ ready: isReady, reasons })
    return reply.type('text/plain').send(`${isReady ? 'ok' : reasons.join('\n')}\n`)
  })
}

function noStore(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store')
}
