import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stopProcess } from '../support/stop-process.ts'
import { until } from '../support/until.ts'
import { ask } from './support/clients.ts'
import { endedProcess, folder, serve, workersOf } from './support/process.ts'

/** Starts two workers, and returns the address of their admin port. */
async function serveTwo(name: string, ...flags: string[]) {
  const all = ['--data', join(folder, name), '--workers', '2', '--admin-port', '0', '--drain-ms', '0', ...flags]
  const service = await serve(all)
  const [, adminUrl = ''] = /^ {2}(http:\S+)\/metrics$/m.exec(service.stdout()) ?? []
  return { ...service, adminUrl }
}

const metricsOf = async (adminUrl: string) => `${(await ask(`${adminUrl}/metrics`)).body}`
const sumOf = (text: string, name: string) =>
  Array.from(text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'gm')), ([, value]) => Number(value)).reduce(
    (sum, value) => sum + value,
    0,
  )

test('workers that have all their connections close further ones at once, and probes are answered', async () => {
  const { url, adminUrl, pid } = await serveTwo('full', '--max-connections', '3')
  const { port } = new URL(url)
  const held: Socket[] = []
  // The primary does not look how many connections a worker has, so one of them may be full before the other.
  await until(async () => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    held.push(socket)
    await once(socket, 'connect')
    return sumOf(await metricsOf(adminUrl), 'graupel_connections') === 6
  })
  const before = sumOf(await metricsOf(adminUrl), 'graupel_connections_dropped_total')
  for (let times = 0; times < 4; times++) await expect(ask(`${url}/livez`)).rejects.toThrow(/socket hang up|ECONNRESET/)
  for (let times = 0; times < 4; times++) {
    expect((await ask(`${adminUrl}/livez`)).status).toBe(200)
    expect((await ask(`${adminUrl}/readyz`)).status).toBe(200)
  }
  expect(sumOf(await metricsOf(adminUrl), 'graupel_connections_dropped_total')).toBe(before + 4)
  expect(workersOf(pid)).toHaveLength(2)
  for (const socket of held) socket.destroy()
  await until(() =>
    ask(`${url}/livez`).then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
})

test('a worker that is killed again and again stays in the metrics as a worker that is missing', async () => {
  const { adminUrl, pid } = await serveTwo('loop')
  const counts = async () => {
    const text = await metricsOf(adminUrl).catch(() => '')
    const ready = text.match(/^graupel_ready\{/gm)?.length ?? 0
    return { wanted: sumOf(text, 'graupel_workers'), ready, restarts: sumOf(text, 'graupel_worker_restarts_total') }
  }
  expect(await counts()).toEqual({ wanted: 2, ready: 2, restarts: 0 })
  const [kept] = workersOf(pid) as [number]
  for (let restarts = 1; restarts <= 2; restarts++) {
    const [killed] = workersOf(pid).filter((worker) => worker !== kept) as [number]
    process.kill(killed, 'SIGKILL')
    await endedProcess(killed)
    await until(async () => {
      const now = await counts()
      return now.wanted === 2 && now.ready === 1 && now.restarts === restarts
    })
    await until(async () => (await counts()).ready === 2)
  }
})

test('the service is not ready while one of its workers does not answer', async () => {
  const { adminUrl, pid } = await serveTwo('blocked')
  expect((await ask(`${adminUrl}/readyz`)).status).toBe(200)
  const [stopped] = workersOf(pid) as [number]
  await stopProcess(stopped)
  // The stopped worker gets a connection as well, and answers nothing on it.
  const answers = await Promise.all(
    [1, 2, 3].map(() =>
      fetch(`${adminUrl}/readyz`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(6000) })
        .then(async (answer) => [answer.status, await answer.text()])
        .catch(() => 'nothing'),
    ),
  )
  expect(answers).toContainEqual([503, expect.stringMatching(/^worker [01] does not answer\n$/)])
  process.kill(stopped, 'SIGCONT')
  await until(async () => (await ask(`${adminUrl}/readyz`)).status === 200)
})
