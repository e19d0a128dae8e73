import { once } from 'node:events'
import { Agent, get, type IncomingMessage, type RequestOptions } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { folder, type Serving, serve } from './support/process.ts'

let folders = 0
const start = (...flags: string[]): Promise<Serving> => serve(['--data', join(folder, `stop ${folders++}`), ...flags])

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterEach(() => agent.destroy())

/** By one connection, which is kept where the service keeps it. */
async function ask(url: string, options: RequestOptions = {}): Promise<IncomingMessage & { text: string }> {
  const [answer] = (await once(get(url, { agent, ...options }), 'response')) as [IncomingMessage]
  let text = ''
  for await (const part of answer) text += part
  return Object.assign(answer, { text })
}

async function refuses(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  return new Promise((resolve) => {
    socket.on('connect', () => resolve(false)).on('error', () => resolve(true))
  }).finally(() => socket.destroy()) as Promise<boolean>
}

test('on SIGTERM it is not ready at once, and goes on until the drain is over', async () => {
  const { url, child, ended } = await start('--drain-ms', '1500')
  const kept = await ask(`${url}/v1/ids`)
  expect(kept.headers.connection).toBe('keep-alive')
  child.kill('SIGTERM')
  await until(async () => (await fetch(`${url}/readyz`)).status === 503)
  expect(await (await fetch(`${url}/readyz`)).text()).toContain('shut down')
  // By the connection from before, and then by new ones.
  const last = await ask(`${url}/v1/ids`)
  expect(last.statusCode).toBe(200)
  expect(last.headers.connection).toBe('close')
  expect((await fetch(`${url}/v1/ids`)).status).toBe(200)
  expect(await (await fetch(`${url}/livez`)).text()).toBe('ok\n')
  expect(await ended).toBe(0)
  expect(await refuses(url)).toBe(true)
})

test('on SIGINT it stops without a drain', async () => {
  const { url, child, ended } = await start('--drain-ms', '3600000')
  await ask(`${url}/v1/ids`)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
})

test('a signal that comes twice is one', async () => {
  const { child, ended, stderr } = await start('--drain-ms', '0')
  child.kill('SIGTERM')
  await until(() => stderr().includes('is being shut down'))
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(stderr()).toContain('lease: released')
})

test('an idle connection, and one that nothing was sent by, hold nothing up', async () => {
  const { url, child, ended } = await start('--shutdown-timeout-ms', '3600000')
  await ask(`${url}/v1/ids`)
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  // It has accepted that one, once it answers a later one.
  await fetch(`${url}/livez`)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
})

test('an answer that is under way is sent whole', async () => {
  const { url, child, ended } = await start('--drain-ms', '0')
  const [answer] = (await once(get(`${url}/v1/ids?count=65536&format=text`, { agent }), 'response')) as [
    IncomingMessage,
  ]
  child.kill('SIGTERM')
  await until(() => refuses(url))
  let text = ''
  for await (const part of answer) text += part
  expect(new Set(text.trim().split('\n')).size).toBe(65_536)
  expect(await ended).toBe(0)
})
