// The yardstick of the service: a server that does nothing but answer, with a body of as many bytes as it is told.
import { createServer } from 'node:http'

const body = Buffer.alloc(Number(process.argv[2]))
const server = createServer((_, response) => response.end(body))
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`)
})
