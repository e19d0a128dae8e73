import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { memoryStore } from 'graupel/stores'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { listen, parsed } from './support/listening.ts'

const key = 'numbers/late'
const record = JSON.stringify({ key, value: 'x', expected: null })
/** More spaces than a slow client sends until the deadline. */
const body = ' '.repeat(1000) + record
const head = (...lines: string[]) => ['POST /v1/store/write HTTP/1.1', 'Host: localhost', ...lines, '', ''].join('\r\n')
const withLength = head(`Content-Length: ${body.length}`)

/** Starts a service whose counters wait until `open` is called. */
async function start(requestTimeoutMs: number) {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  let counts = 0
  const store = memoryStore()
  const written: string[] = []
  const service = await listen(
    { leases: true, requestTimeoutMs },
    {
      store: {
        ...store,
        async write(at, ...rest) {
          written.push(at)
          if (at.includes('orders') && ++counts > 0) await gate
          return store.write(at, ...rest)
        },
      },
    },
  )
  return { ...service, open, written, counts: () => counts }
}

function connectTo(port: number): { readonly socket: Socket; readonly text: () => string } {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  let text = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part
  })
  return { socket, text: () => text }
}

test('a body that does not arrive in time is refused, and its rest is not written', async () => {
  const { port, app, written, log } = await start(300)
  const { socket, text } = connectTo(port)
  socket.write(withLength)
  let sent = 0
  // The connection is never quiet.
  const drip = setInterval(() => socket.write(body.slice(sent, ++sent)), 20)
  await once(socket, 'data')
  clearInterval(drip)
  socket.write(body.slice(sent))
  await once(socket, 'close')
  const { status, headers, body: refusal } = parsed(text())
  expect([status, JSON.parse(refusal).code]).toEqual([408, 'ERR_REQUEST_TIMEOUT'])
  expect(headers.get('connection')).toBe('close')
  expect((await app.inject('/livez')).statusCode).toBe(200)
  expect(written).not.toContain(key)
  expect(log.filter(({ level }) => (level as number) >= 40)).toEqual([])
})

test('a body that the client was asked to send is refused at its deadline, too', async () => {
  const { port } = await start(300)
  const { socket, text } = connectTo(port)
  socket.write(head(`Content-Length: ${body.length}`, 'Expect: 100-continue'))
  await once(socket, 'close')
  expect(text().match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(['100', '408'])
})

test('a body in broken chunks is refused at once, and is not written', async () => {
  const { port, written } = await start(600_000)
  const { socket, text } = connectTo(port)
  socket.write(`${head('Transfer-Encoding: chunked')}${record.length.toString(16)}\r\n${record}\r\nhello\r\n0\r\n\r\n`)
  await once(socket, 'close')
  const { status, body: refusal } = parsed(text())
  expect([status, JSON.parse(refusal).code]).toEqual([400, 'ERR_REQUEST_INVALID'])
  expect(written).not.toContain(key)
})

test('a late body behind a request that waits ends the connection without an answer', async () => {
  const { port, app, written, counts, open } = await start(300)
  const { socket, text } = connectTo(port)
  socket.write(`GET /v1/counters/orders HTTP/1.1\r\nHost: localhost\r\n\r\n${withLength}`)
  await until(() => counts() === 1)
  await once(socket, 'close')
  expect(text()).toBe('')
  open()
  expect((await app.inject('/livez')).statusCode).toBe(200)
  expect(written).not.toContain(key)
})
