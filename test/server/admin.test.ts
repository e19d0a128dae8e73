import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { ask } from './support/clients.ts'
import { seriesOf } from './support/in-process.ts'
import { type Listening, listen, parsed, send } from './support/listening.ts'
import { folder, refuses, serve } from './support/process.ts'

const statusOf = async (url: string, headers = {}) => (await ask(url, undefined, headers)).status

/** Opens connections until the service has as many as it accepts. */
async function fill({ port, app }: Listening, most: number) {
  const held = Array.from({ length: most }, () => connect(port, '127.0.0.1'))
  await Promise.all(held.map((socket) => once(socket, 'connect')))
  await until(async () => (await seriesOf(app, 'graupel_connections')) === most)
  return held
}

test('probes and metrics are answered on the admin port while the other port has no connection left', async () => {
  const service = await listen({ maxConnections: 3, adminPort: 0 })
  const { port, adminUrl, log } = service
  const held = await fill(service, 3)
  const head = 'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
  expect(await send(port, head)).toBe('')
  for (const path of ['/livez', '/readyz']) expect([path, await statusOf(`${adminUrl}${path}`)]).toEqual([path, 200])
  const text = `${(await ask(`${adminUrl}/metrics`)).body}`
  expect(text.match(/^graupel_connections\w* .+$/gm)).toEqual([
    'graupel_connections 3',
    'graupel_connections_limit 3',
    'graupel_connections_dropped_total 1',
  ])
  // One line for all that are dropped within some seconds.
  expect(await send(port, head)).toBe('')
  const lines = log.filter(({ event }) => event === 'drop')
  expect(lines).toMatchObject([
    { level: 40, limit: 3, more: 1, msg: 'connections beyond --max-connections are closed' },
  ])
  for (const socket of held) socket.destroy()
  await until(async () => (await seriesOf(service.app, 'graupel_connections')) === 0)
  expect(parsed(await send(port, head)).status).toBe(200)
})

test('the admin port answers nothing but probes and metrics', async () => {
  const { adminUrl, url } = await listen({ adminPort: 0 })
  for (const path of ['/', '/v1/ids', '/v1/counters/a', '/openapi.json', '/metrics/x', '/no']) {
    const { status, headers, body } = await ask(`${adminUrl}${path}`)
    expect([path, status, JSON.parse(`${body}`).code]).toEqual([path, 404, 'ERR_ROUTE_UNKNOWN'])
    expect(headers['x-request-id']).toMatch(/\w/)
  }
  for (const path of ['/livez', '/readyz?x=1', '/metrics']) {
    expect([path, await statusOf(`${adminUrl}${path}`), await statusOf(`${url}${path}`)]).toEqual([path, 200, 200])
  }
})

test('a whole URL in a request is answered as its path', async () => {
  const tokenFile = join(folder, 'whole')
  writeFileSync(tokenFile, 'x'.repeat(24), { mode: 0o600 })
  const { port, adminUrl } = await listen({ adminPort: 0, tokenFile })
  const answered = async (port: number, line: string, authorization = '') => {
    const head = `${line} HTTP/1.1\r\nHost: localhost\r\n${authorization}Connection: close\r\n\r\n`
    return parsed(await send(port, head)).status
  }
  const bearer = `Authorization: Bearer ${'x'.repeat(24)}\r\n`
  expect(await answered(port, 'GET http://localhost/livez')).toBe(200)
  expect(await answered(port, 'GET HTTP://localhost/readyz?x=1')).toBe(200)
  expect(await answered(port, 'GET http://localhost/v1/ids?x=/livez')).toBe(401)
  // Other routers take what follows the first slash for the path.
  const page = await send(port, 'GET http://localhost?/v1/ids HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  expect(page).not.toContain('{"ids"')
  expect(await answered(port, 'PUT http://localhost/v1/ids', bearer)).toBe(405)
  expect(await answered(Number(new URL(adminUrl).port), 'GET http://localhost/livez')).toBe(200)
})

test('metrics need the token on the admin port as well, and probes need none', async () => {
  const token = 'x'.repeat(24)
  const tokenFile = join(folder, 'tokens')
  writeFileSync(tokenFile, token, { mode: 0o600 })
  const { adminUrl } = await listen({ adminPort: 0, tokenFile })
  expect(await statusOf(`${adminUrl}/livez`)).toBe(200)
  expect(await statusOf(`${adminUrl}/readyz`)).toBe(200)
  expect(await statusOf(`${adminUrl}/metrics`)).toBe(401)
  expect(await statusOf(`${adminUrl}/metrics`, { authorization: `Bearer ${token}` })).toBe(200)
})

test('the start prints the address of the admin port, and probes are answered there until the end', async () => {
  const flags = ['--data', join(folder, 'admin'), '--admin-port', '0', '--drain-ms', '300000']
  const { stdout, child, ended } = await serve(flags)
  const [, adminUrl = ''] = /^ {2}(http:\S+)\/metrics$/m.exec(stdout()) ?? []
  expect(await statusOf(`${adminUrl}/readyz`)).toBe(200)
  child.kill('SIGTERM')
  await until(async () => (await statusOf(`${adminUrl}/readyz`)) === 503)
  expect(await statusOf(`${adminUrl}/livez`)).toBe(200)
  child.kill('SIGINT')
  await ended
  expect(await refuses(adminUrl)).toBe(true)
})

test('idle connections do not shut out probes of the admin port', async () => {
  const { adminUrl, log } = await listen({ adminPort: 0 })
  const { port } = new URL(adminUrl)
  const idle = Array.from({ length: 150 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}))
  await Promise.all(idle.map((socket) => once(socket, 'connect')))
  for (let times = 0; times < 3; times++) expect(await statusOf(`${adminUrl}/livez`)).toBe(200)
  // The oldest are closed, and the last ones stay open.
  await until(() => idle.slice(0, 50).every(({ closed }) => closed))
  expect(idle.at(-1)?.closed).toBe(false)
  expect(log.filter(({ event }) => event === 'drop')).toMatchObject([{ limit: 100 }])
  for (const socket of idle) socket.destroy()
})
