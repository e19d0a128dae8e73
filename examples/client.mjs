// Orders whose ids come from the id service, in a handler of node:http.
//
//   npm install graupel
//   npx graupel-server
//   SERVICE_URL=http://127.0.0.1:4728 PORT=3000 node client.mjs
//   curl -d '{"item":"tea"}' http://127.0.0.1:3000/orders
//
// Ids are fetched in advance, so most orders do not wait. SERVICE_URL may have several servers, with commas
// between them.
import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { GraupelError } from 'graupel'
import { connect } from 'graupel/client'

const urls = (process.env.SERVICE_URL ?? 'http://127.0.0.1:4728').split(',')
const ids = await connect({ urls, maxWaitMs: 6000 })

const orders = new Map() // in place of a database, which takes the bigint as it is

const server = createServer(async (request, response) => {
  const send = (status, body, headers = {}) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
  try {
    if (request.method !== 'POST' || request.url !== '/orders') return send(404, { message: 'POST /orders' })
    const { item } = await json(request)
    const id = await ids.nextAsync()
    orders.set(id, item)
    send(201, { id: String(id), item }) // a number of JSON would lose its last digits
  } catch (error) {
    if (error instanceof SyntaxError) return send(400, { message: 'give an item as JSON' })
    console.error(`${error.code}: ${error.message}`)
    if (!(error instanceof GraupelError)) return send(500, { message: 'it failed' })
    // The fetched ids are used up, and no server answers.
    const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? 0) / 1000))
    send(503, { message: 'try again later', code: error.code }, { 'Retry-After': `${seconds}` })
  }
})

server.listen(process.env.PORT ?? 3000, () => console.log(`http://127.0.0.1:${server.address().port}`))

server.once('close', () => {
  ids.close()
  cluster.worker?.disconnect() // otherwise a process of node:cluster or pm2 goes on
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close())
