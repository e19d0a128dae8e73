import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startEtcd } from '../stores/kinds/etcd.ts'
import { host } from '../stores/kinds/kind.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import { freePort, type Server } from '../stores/servers.ts'
import { read } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { seededRandom } from '../support/random.ts'
import { repetitions } from '../support/short.ts'
import { until } from '../support/until.ts'
import { ask } from './support/clients.ts'
import { folder, run } from './support/process.ts'
import { type Figures, noDeadline, type Plan, runGroup } from './support/strict-group.ts'

// Real servers of a strict group on real stores. Eight clients check the order of all answers in real time.

/** GRAUPEL_STRICT_ANSWERS=10000000 is the long form, with 200 kills. */
const answers = Number(process.env['GRAUPEL_STRICT_ANSWERS'] ?? repetitions(300_000, 40_000))
const wanted = { answers, kills: Math.max(3, Math.round(answers / 50_000)) }
/** A fault takes some 4 s, and twice as long on a busy machine. Half of the faults are kills. */
const longestMs = Math.max(600_000, 2 * wanted.kills * 8000)

const stores = {
  PostgreSQL: {
    start: () => startPostgres(),
    at: (port: number) => ['--store', `postgres://postgres@${host}:${port}/postgres`, '--assume-durable'],
  },
  etcd: { start: () => startEtcd(), at: (port: number) => ['--store', `etcd://${host}:${port}`] },
}

async function onStore({ start, at }: (typeof stores)['etcd'], more: Partial<Plan> = {}): Promise<Figures> {
  const server: Server = await start()
  try {
    const random = seededRandom('a strict group')
    return await runGroup({ storePort: server.port, storeAt: at, random, wanted, ...more })
  } finally {
    await server.stop()
  }
}

function told({ clients, afterKill, afterRelease, ...counts }: Figures): string {
  const spread = (all: readonly number[]) =>
    `${Math.round(all[all.length >> 1] ?? 0)} ms, at most ${Math.round(all.at(-1) ?? 0)} ms`
  const refused = `${clients.refused} refusals, ${clients.broken} broken requests`
  return `${JSON.stringify(counts)}; ids after a kill: ${spread(afterKill)}; after SIGTERM: ${spread(afterRelease)}; ${refused}`
}

describeWith(['postgres', 'etcd', 'faketime'], 'a strict group of three servers', () => {
  test.each(['PostgreSQL', 'etcd'] as const)(
    'answers in the order of real time on %s',
    async (name) => {
      const figures = await onStore(stores[name])
      console.info(`${name}: ${told(figures)}`)
      expect(figures.clients.order.inversions.slice(0, 3)).toEqual([])
      expect(figures.answers).toBeGreaterThanOrEqual(wanted.answers)
      expect(figures.kills).toBeGreaterThanOrEqual(wanted.kills)
    },
    longestMs,
  )

  test('answers out of order if the holder has no deadline', async () => {
    const figures = await onStore(stores.PostgreSQL, { defect: noDeadline, endsAtInversion: true })
    console.info(`without a deadline: ${told(figures)}`)
    expect(figures.inversions).toBeGreaterThan(0)
  })
})

describeWith(['etcd', 'haproxy'], 'two servers behind HAProxy, as docs/order.md configures it', () => {
  test('answer again after SIGTERM and after kill -9 of the holder', async () => {
    const store = await startEtcd()
    const ports = [await freePort(), await freePort()] as const
    const start = (port: number) =>
      run(['--strict', '--advertise', `http://${host}:${port}`, '--port', `${port}`, ...stores.etcd.at(store.port)])
    const servers = new Map(ports.map((port) => [port, start(port)]))
    const front = await freePort()
    const [, recipe = ''] = /```text\n(defaults\n.*?)```/s.exec(read('docs/order.md')) ?? []
    const configuration = recipe
      .replace('10.0.0.4:4728', `${host}:${front}`)
      .replace('10.0.0.1:4728', `${host}:${ports[0]}`)
      .replace('10.0.0.2:4728', `${host}:${ports[1]}`)
    const file = join(folder, 'strict-haproxy.cfg')
    writeFileSync(file, configuration)
    const haproxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
    let last = 0n
    const next = async () => {
      const { status, body } = await ask(`http://${host}:${front}/v1/ids`).catch(() => ({ status: 0, body: '' }))
      if (status !== 200) return false
      const id = BigInt(JSON.parse(`${body}`).ids[0])
      expect(id).toBeGreaterThan(last)
      last = id
      return true
    }
    const holder = async () => {
      for (const port of ports) {
        const { status } = await ask(`http://${host}:${port}/readyz`).catch(() => ({ status: 0 }))
        if (status === 200) return port
      }
      return undefined
    }
    try {
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        await until(next)
        const port = (await holder()) as number
        const server = servers.get(port)
        server?.child.kill(signal)
        await server?.ended
        // The other server. Only then may the former holder wait again: it might get the released node first.
        await until(next)
        expect(await holder()).not.toBe(port)
        servers.set(port, start(port))
      }
    } finally {
      haproxy.kill('SIGKILL')
      await once(haproxy, 'exit')
      for (const { child, ended } of servers.values()) {
        child.kill('SIGKILL')
        await ended
      }
      await store.stop()
    }
  })
})
