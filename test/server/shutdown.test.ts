import { once } from 'node:events'
import { Agent, get, type IncomingMessage, type RequestOptions } from 'node:http'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { folder, refuses, serve } from './support/process.ts'

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterEach(() => agent.destroy())

/** Sends a request on one connection, which stays open if the service keeps it. */
async function ask(url: string, options: RequestOptions = {}): Promise<IncomingMessage & { text: string }> {
  const [answer] = (await once(get(url, { agent, ...options }), 'response')) as [IncomingMessage]
  let text = ''
  for await (const part of answer) text += part
  return Object.assign(answer, { text })
}

test('on SIGTERM it is unready at once, serves until the drain is over, and completes an answer under way', async () => {
  const flags = ['--data', join(folder, 'data'), '--drain-ms', '2000', '--max-count', '1048576']
  const { url, child, ended } = await serve(flags)
  const kept = await ask(`${url}/v1/ids`)
  expect(kept.headers.connection).toBe('keep-alive')
  // Longer than the buffers of a connection that nobody reads, so it is under way until it is read.
  const [answer] = (await once(get(`${url}/v1/ids?count=1048576&format=text`), 'response')) as [IncomingMessage]
  child.kill('SIGTERM')
  await until(async () => (await fetch(`${url}/readyz`)).status === 503)
  expect(await (await fetch(`${url}/readyz`)).text()).toContain('shut down')
  // On the same connection as before, and then on new connections.
  const last = await ask(`${url}/v1/ids`)
  expect(last.statusCode).toBe(200)
  expect(last.headers.connection).toBe('close')
  expect((await fetch(`${url}/v1/ids`)).status).toBe(200)
  expect(await (await fetch(`${url}/livez`)).text()).toBe('ok\n')
  await until(() => refuses(url))
  let text = ''
  for await (const part of answer) text += part
  expect(new Set(text.trim().split('\n')).size).toBe(1_048_576)
  expect(await ended).toBe(0)
})

test('on SIGHUP, from a terminal that is closed, it drains and releases its node as on SIGTERM', async () => {
  const { url, child, ended, stderr } = await serve(['--data', join(folder, 'hangup'), '--drain-ms', '500'])
  child.kill('SIGHUP')
  await until(() => stderr().includes('is being shut down'))
  expect((await fetch(`${url}/readyz`)).status).toBe(503)
  expect(await ended).toBe(0)
  expect(stderr()).toContain('lease: released')
})

test.skipIf(process.platform !== 'linux')('it goes on if its log cannot be written, and counts the lines', async () => {
  const by = (command: readonly string[]) => ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh', ...command]
  const { url, child, ended } = await serve(['--data', join(folder, 'full'), '--drain-ms', '0'], {}, { by })
  expect((await fetch(`${url}/v1/ids`)).status).toBe(200)
  expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^graupel_log_lines_dropped_total [1-9]\d*$/m)
  child.kill('SIGHUP')
  expect(await ended).toBe(0)
})

test('a signal that comes twice counts once', async () => {
  const { child, ended, stderr } = await serve(['--data', join(folder, 'twice'), '--drain-ms', '0'])
  child.kill('SIGTERM')
  await until(() => stderr().includes('is being shut down'))
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(stderr()).toContain('lease: released')
})
