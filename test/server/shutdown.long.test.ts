import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { freePort } from '../stores/servers.ts'
import { until } from '../support/until.ts'
import { folder, run, type Serving, serve } from './support/process.ts'

let folders = 0
const start = (...flags: string[]): Promise<Serving> => serve(['--data', join(folder, `stop ${folders++}`), ...flags])

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterEach(() => agent.destroy())

async function refuses(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  return new Promise((resolve) => {
    socket.on('connect', () => resolve(false)).on('error', () => resolve(true))
  }).finally(() => socket.destroy()) as Promise<boolean>
}

test('an answer that is not taken is given up after the time for it', async () => {
  const { url, child, ended } = await start('--drain-ms', '0', '--shutdown-timeout-ms', '300', '--max-count', '1048576')
  const [answer] = (await once(get(`${url}/v1/ids?count=1048576`, { agent }), 'response')) as [IncomingMessage]
  answer.on('error', () => {})
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})

test('a second signal ends it at once', async () => {
  const { url, child, ended } = await start('--drain-ms', '3600000')
  child.kill('SIGTERM')
  await until(async () => (await fetch(`${url}/readyz`)).status === 503)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
})

test('its node is free for the next one at once', async () => {
  const data = join(folder, `stop ${folders++}`)
  const flags = ['--data', data, '--nodes', '3-3', '--acquire-timeout-ms', '0', '--drain-ms', '0']
  const first = await serve(flags)
  first.child.kill('SIGTERM')
  expect(await first.ended).toBe(0)
  const second = await serve(flags)
  expect(second.stdout()).toContain('node 3 (twitter)')
})

test('it can be ended while it waits for a node', async () => {
  const data = join(folder, `stop ${folders++}`)
  const flags = ['--data', data, '--nodes', '3-3']
  await serve(flags)
  const port = await freePort()
  const { child, ended, stdout } = run([...flags, '--port', `${port}`])
  await until(async () => !(await refuses(`http://127.0.0.1:${port}`)))
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(stdout()).toBe('')
})
