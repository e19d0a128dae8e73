// The yardstick of the service: a server that only answers, with a body of the given size.
import { createServer } from 'node:http'

const bytes = Number(process.argv[2])
// Even an empty body is a second part of the write.
const body = bytes > 0 ? Buffer.alloc(bytes) : undefined
const server = createServer((_, response) => response.end(body))
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`)
})
