import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { memoryStore } from 'graupel/stores'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { listen } from './support/listening.ts'
import { command, RespClient } from './support/resp.ts'

/** Starts a service whose store writes only after `open`, so that answers wait. */
async function slow() {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const store = memoryStore()
  let writes = 0
  const isNumber = (key: string) => key.includes('orders')
  const started = await listen(
    { resp: 0, respCounters: 'orders' },
    {
      store: {
        ...store,
        async write(key, ...rest) {
          if (isNumber(key) && ++writes > 0) await gate
          return store.write(key, ...rest)
        },
      },
    },
  )
  return { ...started, open, writes: () => writes }
}

/** Sends a request and ends the own side of the connection; resolves to the answer. */
async function half(port: number, path: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.end(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  let answer = ''
  for await (const part of socket.setEncoding('latin1')) answer += part
  return answer
}

test('a client that ends its side after its request gets the answer, and the connection ends', async () => {
  const { port, open, writes } = await slow()
  for (const path of ['/v1/ids', '/v1/ids?count=9', '/livez', '/v1/ids/1']) {
    expect([path, await half(port, path)]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 200 /)])
  }
  const numbers = half(port, '/v1/segments/orders?format=text')
  await until(() => writes() > 0)
  open()
  expect(await numbers).toMatch(/\r\n1\n$/)
})

test('a count whose client has ended its side goes to the next request, as if the client had left', async () => {
  const { port, app, open, writes } = await slow()
  const sockets: Socket[] = []
  app.server.on('connection', (socket: Socket) => sockets.push(socket))
  const refused = half(port, '/v1/counters/orders')
  await until(() => writes() === 1 && sockets[0]?.readableEnded === true)
  open()
  const answer = await refused
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toContain('"the client has ended its side of the connection, as a client that has left does; keep it')
  expect((await app.inject('/v1/counters/orders')).json()).toEqual({ counts: ['1'] })
})

test('so does a count of a client of Redis', async () => {
  const { respUrl, open, writes } = await slow()
  const [own, next] = [await RespClient.open(respUrl), await RespClient.open(respUrl)]
  own.socket.end(command('INCR', 'orders'))
  await until(() => writes() === 1)
  // The service reads the end of this connection before the command of a later one.
  await next.ask('PING')
  expect(own.socket.closed).toBe(false)
  open()
  expect(`${await own.read(1)}`).toMatch(/ERR_REQUEST_INVALID the client has ended its side/)
  expect(await next.ask('INCR', 'orders')).toBe(1)
  next.socket.destroy()
})

test('a connection without a request ends when its client ends its side', async () => {
  const { port } = await slow()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.end()
  await once(socket.resume(), 'close')
})
