import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { type Listening, listen, send } from './support/listening.ts'
import { command, RespClient } from './support/resp.ts'

// A request behind the last answer of a connection cannot be answered, so its count would be missing.

const service = await listen({ resp: 0, respCounters: 'c:' })

const head = (path: string, ...lines: string[]) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`

/** Returns how many counts were taken, and how many were sent. */
async function countsOf({ app }: Listening, name: string, answer: string): Promise<{ taken: number; sent: number }> {
  const { counts } = (await app.inject(`/v1/counters/${name}`)).json() as { counts: string[] }
  return { taken: Number(counts[0]) - 1, sent: answer.match(/\{"counts":/g)?.length ?? 0 }
}

test.each([
  ['a refused request with a body', `${head('/v1/ids', 'Content-Length: 3')}abc`],
  ['a body in chunks', `${head('/v1/ids', 'Transfer-Encoding: chunked')}3\r\nabc\r\n0\r\n\r\n`],
  ['a refused method with a body', `${head('/v1/ids', 'Content-Length: 1').replace('GET', 'POST')}a`],
  ['a body that waits to be asked for', head('/v1/ids', 'Content-Length: 3', 'Expect: 100-continue')],
  ['a request that ends its connection', head('/v1/ids', 'Connection: close')],
  ['a request of HTTP/1.0', head('/v1/ids').replace('1.1', '1.0')],
  ['bytes that are no request', 'hello\r\n\r\n'],
  ['the beginning of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['the method of proxies', head('example.com:80').replace('GET', 'CONNECT')],
])('no count is taken behind %s', async (title, bytes) => {
  const name = title.replaceAll(/\W/g, '-')
  const answer = await send(service.port, bytes + head(`/v1/counters/${name}`).repeat(600))
  expect(await countsOf(service, name, answer)).toEqual({ taken: 0, sent: 0 })
})

test('no count is taken by the rest of a request that did not arrive in time', async () => {
  const impatient = await listen({ requestTimeoutMs: 300 })
  const socket = connect(impatient.port, '127.0.0.1').on('error', () => {})
  socket.write(head('/v1/counters/late').slice(0, -4))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(`${answer}`).toMatch(/^HTTP\/1\.1 408 /)
  socket.write(`\r\n\r\n${head('/v1/counters/late').repeat(600)}`)
  await once(socket.resume(), 'close')
  expect(await countsOf(impatient, 'late', `${answer}`)).toEqual({ taken: 0, sent: 0 })
})

test('a service that stops takes a count for the first of many requests of a connection, and answers it', async () => {
  const stopping = await listen()
  stopping.service.isStopping = true
  const answer = await send(stopping.port, head('/v1/counters/last').repeat(600))
  expect(answer).toMatch(/\r\nconnection: close\r\n/i)
  expect(await countsOf(stopping, 'last', answer)).toEqual({ taken: 1, sent: 1 })
})

test.each([
  ['QUIT', command('QUIT')],
  ['bytes that are no command', 'hello\r\n'],
])('no count is taken behind %s of a client of Redis', async (title, bytes) => {
  const key = `c:${title.replaceAll(/\W/g, '-')}`
  const own = await RespClient.open(service.respUrl)
  own.socket.write(bytes + command('INCR', key).repeat(600))
  await own.read(Number.POSITIVE_INFINITY)
  expect(await countsOf(service, key, '')).toEqual({ taken: 0, sent: 0 })
})

test('bytes that are no request get their answer behind those of requests for one id', async () => {
  const answer = await send(service.port, `${head('/v1/ids').repeat(20)}hello\r\n\r\n`)
  expect(answer.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual([...Array<string>(20).fill('200'), '400'])
})

test('a client that reads ids slowly gets all of them before the answer to bytes that are no request', async () => {
  const slow = await listen()
  const socket = connect(slow.port, '127.0.0.1').on('error', () => {})
  socket.pause()
  // Fewer than may be under way at once. The system takes only a part of the answers.
  const count = 9000
  socket.write(`${head('/v1/ids').repeat(count)}hello\r\n\r\n`)
  const issued = () => slow.service.ids.get('twitter')?.stats()?.ids.issued ?? 0
  await until(() => issued() > 1000)
  let answer = ''
  for await (const part of socket.setEncoding('latin1')) answer += part
  expect(answer.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual([...Array<string>(count).fill('200'), '400'])
})

test('a client that reads slowly gets the answers before the last one, although it has sent more requests', async () => {
  const slow = await listen()
  const socket = connect(slow.port, '127.0.0.1').on('error', () => {})
  const one = head('/v1/counters/slow')
  socket.pause()
  socket.write(one.repeat(5000))
  const taken = async () => (await slow.service.counters.get('slow')).stats().issued
  await until(async () => (await taken()) === 5000)
  slow.service.isStopping = true
  socket.write(one.repeat(20_000))
  await until(async () => (await taken()) === 5001)
  const parts: string[] = []
  socket.setEncoding('latin1').on('data', (part: string) => parts.push(part))
  await new Promise((resolve) => socket.on('close', resolve).resume())
  expect(await countsOf(slow, 'slow', parts.join(''))).toEqual({ taken: 5001, sent: 5001 })
})
