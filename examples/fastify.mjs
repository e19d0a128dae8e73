// Orders whose ids are made in the handlers of a Fastify app.
//
//   npm install graupel fastify libsql
//   STORE_URL=sqlite:fleet.db PORT=3000 node fastify.mjs
//   curl -H 'content-type: application/json' -d '{"item":"tea"}' http://127.0.0.1:3000/orders
//
// Start several of them: each leases a node of its own. STORE_URL may name another store, such as
// redis://127.0.0.1:6379.
import cluster from 'node:cluster'
import Fastify from 'fastify'
import { createGenerator, GraupelError, parseId } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'
import Database from 'libsql'

const opened = await openStore(process.env.STORE_URL ?? 'sqlite:fleet.db')
const lease = await acquireLease({ store: opened.store })
const ids = createGenerator({ lease })

const database = new Database(process.env.DATABASE_FILE ?? 'orders.db')
database.exec('PRAGMA busy_timeout = 5000')
database.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL)')
const insert = database.prepare('INSERT INTO orders (id, item) VALUES (?, ?)')
const select = database.prepare('SELECT item FROM orders WHERE id = ?')

const app = Fastify({ return503OnClosing: false }) // while the app ends, it takes the orders that have reached it

const body = { type: 'object', required: ['item'], properties: { item: { type: 'string' } } }
app.post('/orders', { schema: { body } }, async (request, reply) => {
  const { item } = request.body
  const id = await ids.nextAsync() // a bigint, as the database takes it
  insert.run(id, item)
  return reply.code(201).send({ id: String(id), item }) // a number of JSON would lose its last digits
})

app.get('/orders/:id', async (request, reply) => {
  const id = parseId(request.params.id, 'decimal', ids.layout) // refuses what a BIGINT does not hold
  const [row] = select.all(id)
  if (row === undefined) return reply.code(404).send({ message: 'there is no such order' })
  return { id: String(id), item: row.item, createdAt: ids.decode(id).timestamp }
})

app.setErrorHandler((error, _request, reply) => {
  if (error.code === 'ERR_ID_INVALID') return reply.code(400).send({ message: error.message })
  if (!(error instanceof GraupelError)) return reply.send(error)
  // No id can be made now: the store was unreachable for too long, or the clock was set back.
  console.error(`${error.code}: ${error.message}`)
  const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? 0) / 1000))
  return reply.code(503).header('Retry-After', `${seconds}`).send({ message: 'try again later', code: error.code })
})

// Runs after the requests that have begun.
app.addHook('onClose', async () => {
  await lease.release()
  await opened.close()
  database.close()
})
async function end() {
  await app.close()
  cluster.worker?.disconnect() // otherwise a process of node:cluster or pm2 goes on
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, end)

// The lease is lost, and no other node is free: the process ends, and has to be restarted.
lease.signal.addEventListener('abort', end)

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`${address}, node ${lease.node}`)
