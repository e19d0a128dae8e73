// Orders whose ids are made in the handlers of an Express app.
//
//   npm install graupel express libsql
//   STORE_URL=sqlite:fleet.db PORT=3000 node express.mjs
//   curl -H 'content-type: application/json' -d '{"item":"tea"}' http://127.0.0.1:3000/orders
//
// Start several of them: each leases a node of its own. STORE_URL may name another store, such as
// redis://127.0.0.1:6379.
import cluster from 'node:cluster'
import express from 'express'
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

const app = express()
app.use(express.json())

app.post('/orders', async (request, response) => {
  const item = request.body?.item
  if (typeof item !== 'string') return response.status(400).json({ message: 'give an item' })
  const id = await ids.nextAsync() // a bigint, as the database takes it
  insert.run(id, item)
  response.status(201).json({ id: String(id), item }) // a number of JSON would lose its last digits
})

app.get('/orders/:id', (request, response) => {
  const id = parseId(request.params.id, 'decimal', ids.layout) // refuses what a BIGINT does not hold
  const [row] = select.all(id)
  if (row === undefined) return response.status(404).json({ message: 'there is no such order' })
  response.json({ id: String(id), item: row.item, createdAt: ids.decode(id).timestamp })
})

app.use((error, _request, response, next) => {
  if (error.code === 'ERR_ID_INVALID') return response.status(400).json({ message: error.message })
  if (!(error instanceof GraupelError)) return next(error)
  // No id can be made now: the store was unreachable for too long, or the clock was set back.
  console.error(`${error.code}: ${error.message}`)
  const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? 0) / 1000))
  response.status(503).set('Retry-After', `${seconds}`).json({ message: 'try again later', code: error.code })
})

const server = app.listen(process.env.PORT ?? 3000, (error) => {
  if (error) throw error
  console.log(`http://127.0.0.1:${server.address().port}, node ${lease.node}`)
})

// Runs after the requests that have begun.
server.once('close', async () => {
  await lease.release()
  await opened.close()
  database.close()
  cluster.worker?.disconnect() // otherwise a process of node:cluster or pm2 goes on
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close())

// The lease is lost, and no other node is free: the process ends, and has to be restarted.
lease.signal.addEventListener('abort', () => server.close())
