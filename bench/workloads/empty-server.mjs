// The yardstick of the service: a server that does nothing but answer, with a body of as many bytes as it is told.
import { createServer } from 'node:http'

const bytes = Number(process.argv[2])
// A body takes a second part of the write, even one of no bytes.
const body = bytes > 0 ? Buffer.alloc(bytes) : undefined
const server = createServer((_, response) => response.end(body))
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`)
})
