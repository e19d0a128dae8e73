import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort } from '../stores/servers.ts'
import { until } from '../support/until.ts'
import { folder, refuses, run, type Serving, serve } from './support/process.ts'
import { command } from './support/resp.ts'

let folders = 0
const start = (...flags: string[]): Promise<Serving> => serve(['--data', join(folder, `stop ${folders++}`), ...flags])

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterEach(() => agent.destroy())

/** Sends a request on a connection that is idle afterwards. */
async function used(url: string): Promise<void> {
  const [answer] = (await once(get(`${url}/v1/ids`, { agent }), 'response')) as [IncomingMessage]
  expect(answer.headers.connection).toBe('keep-alive')
  for await (const _ of answer);
}

test('on SIGINT it stops without a drain', async () => {
  const { url, child, ended } = await start('--drain-ms', '3600000')
  await used(url)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
})

test('neither an idle connection nor an unused connection delays the end', async () => {
  const { url, child, ended } = await start('--shutdown-timeout-ms', '3600000')
  await used(url)
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  // It has accepted the first connection once it answers on a later one.
  await fetch(`${url}/livez`)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
})

test('an answer that its client does not read is given up after the timeout', async () => {
  const { url, child, ended } = await start(
    '--drain-ms',
    '0',
    '--shutdown-timeout-ms',
    '3000',
    '--max-count',
    '1048576',
  )
  const [answer] = (await once(get(`${url}/v1/ids?count=1048576`, { agent }), 'response')) as [IncomingMessage]
  answer.on('error', () => {})
  const startMs = performance.now()
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  // Until then, the service has waited. Timers may fire a little early.
  expect(performance.now() - startMs).toBeGreaterThan(2900)
})

test('a second signal ends it at once', async () => {
  const { url, child, ended } = await start('--drain-ms', '3600000')
  child.kill('SIGTERM')
  await until(async () => (await fetch(`${url}/readyz`)).status === 503)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
})

test('its node is free at once for the next service', async () => {
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

describe.each(['HTTP', 'Redis'])('clients of %s that send many commands at once', (protocol) => {
  test('get every count that was taken before the end', async () => {
    const data = ['--data', join(folder, `stop ${folders++}`), '--resp', '0', '--resp-counters', 'c:']
    const { url, child, ended, stdout } = await serve([...data, '--drain-ms', '200'])
    const isHttp = protocol === 'HTTP'
    const place = new URL(isHttp ? url : (/redis:\/\/\S+/.exec(stdout())?.[0] ?? ''))
    const one = isHttp ? 'GET /v1/counters/c:a?format=text HTTP/1.1\r\nHost: localhost\r\n\r\n' : command('INCR', 'c:a')
    const isCount = isHttp ? /\r\n\r\n\d+\n/g : /^:\d+\r$/gm
    const answers = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const socket = connect(Number(place.port), '127.0.0.1').on('error', () => {})
        let text = ''
        socket.setEncoding('latin1').on('data', (part: string) => {
          // Once counts come, and many are on their way.
          if (text === '' && index === 0) child.kill('SIGTERM')
          text += part
          socket.write(one.repeat(20))
        })
        socket.write(one.repeat(500))
        // once() would reject if the connection is reset.
        await new Promise((resolve) => socket.on('close', resolve))
        return text
      }),
    )
    expect(await ended).toBe(0)
    const sent = answers.join('').match(isCount)?.length ?? 0
    expect(sent).toBeGreaterThan(0)
    const again = await serve(data)
    expect(await (await fetch(`${again.url}/v1/counters/c:a?format=text`)).text()).toBe(`${sent + 1}\n`)
  })
})
