import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Service } from '../service.js'

/**
 * `/livez`: the event loop turns; nothing else, because a restart helps nothing else. `/readyz`: whether ids can be had, and why not.
 * The store of segments and counters is not asked: it is that of the leases, which say within two thirds of a window that it is
 * away, and until then segments are served from what is left of them. Parameters are ignored: a probe with one too many must not take
 * a pod out.
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
