// The yardstick of the service: a server of node:http or node:https that gives each request one fixed
// answer. The answer has the headers and as many bytes as an answer of the service, and connections have
// the timeouts of the service, so the visible work is the same. measure/load.ts compares the answers of the
// two servers.
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'

/** @type {{ headers: string[], body: string, tls?: { cert: string, key: string } }} */
const { headers, body: encoded, tls } = JSON.parse(process.argv[2] ?? '')
const bytes = Buffer.from(encoded, 'base64')
// Node sends a short text together with the head, and a buffer as a second part of the write.
const body = bytes.length < 1024 ? bytes.toString('latin1') : bytes
// As server/src/http/connections.ts, with the default options of the service.
const limits = {
  maxHeaderSize: 8192,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 75_000,
}
/** @type {import('node:http').RequestListener} */
const answer = (_, response) => {
  response.writeHead(200, headers)
  response.end(body, 'latin1')
}
const server = tls === undefined ? createServer(limits, answer) : createTlsServer({ ...limits, ...tls }, answer)
server.timeout = 30_000
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`http${tls === undefined ? '' : 's'}://127.0.0.1:${port}`)
})
