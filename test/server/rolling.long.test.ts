import { decode, layouts } from 'graupel'
import { expect, test } from 'vitest'
import { host } from '../stores/kinds/kind.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import { startRedis } from '../stores/kinds/redis.ts'
import { freePort, type Server } from '../stores/servers.ts'
import { duplicatesAmong, total } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { Balancer } from './support/balancer.ts'
import { ask, Clients, Ids } from './support/clients.ts'
import { startHaproxy } from './support/haproxy.ts'
import { serveOn } from './support/instance.ts'
import type { Serving } from './support/process.ts'

// Three instances behind a balancer under load, each ended by SIGTERM and replaced while the others go on.

const instances = 3
const clients = 32
const idsOfAnswer = 20
/** Longer than the balancer takes to notice, and short, so the test does not wait long. */
const drainMs = 1500
/**
 * The longest time from SIGTERM to the end: the drain, running requests (10 s), and the release of nodes (5
 * s).
 */
const longestEndMs = drainMs + 10_000 + 5000

interface Front {
  readonly url: string
  close(): unknown
}

type Balance = (ports: readonly number[]) => Promise<Front>

interface Fleet {
  readonly load: Clients
  readonly running: Serving[]
  startOn(port: number): Promise<Serving>
}

/** Runs instances under load, and expects that no request fails meanwhile, and that no id comes twice. */
async function withFleet(store: string, balance: Balance, use: (fleet: Fleet) => Promise<void>): Promise<void> {
  const ports = await Promise.all(Array.from({ length: instances }, () => freePort()))
  // There are as many nodes as instances, and no instance waits for a node, so each has to release its own.
  const nodes = ['--nodes', `0-${instances - 1}`, '--acquire-timeout-ms', '0']
  const startOn = (port: number) =>
    serveOn(port, ['--store', store, '--assume-durable', ...nodes, '--drain-ms', `${drainMs}`])
  const running: Serving[] = []
  for (const port of ports) running.push(await startOn(port))
  const front = await balance(ports)
  const ids = new Ids(idsOfAnswer)
  try {
    await until(() =>
      ask(`${front.url}/livez`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    const load = new Clients(clients, () => ids.urlAt(front.url), ids.take)
    await load.goOn()
    await use({ load, running, startOn })
    await load.goOn()
    await load.stop()
    expect(load.broken).toEqual([])
    expect(load.refusals).toEqual([])
  } finally {
    await front.close()
  }
  expect(duplicatesAmong(ids.arrays)).toBe(0)
  const madeBy = new Set(ids.arrays.map(([first]) => decode(first as bigint, layouts.twitter).node))
  expect([...madeBy].sort()).toEqual([0, 1, 2])
  console.info(`${total(ids.arrays)} ids`)
}

/** @param rounds - How often each instance is replaced. */
function roll(store: string, rounds: number, balance: Balance): Promise<void> {
  return withFleet(store, balance, async ({ load, running, startOn }) => {
    for (let round = 0; round < rounds; round++) {
      for (const [index, { child, ended, stderr, url }] of running.entries()) {
        const startMs = performance.now()
        child.kill('SIGTERM')
        expect(await ended, stderr()).toBe(0)
        expect(performance.now() - startMs).toBeLessThan(longestEndMs)
        expect(stderr()).toContain('lease: released')
        running[index] = await startOn(Number(new URL(url).port))
        await load.goOn()
      }
    }
  })
}

const behindHaproxy =
  (repeats: boolean): Balance =>
  async (ports) => {
    const proxy = await startHaproxy(ports, repeats)
    return { url: `http://${host}:${proxy.port}`, close: () => proxy.stop() }
  }

async function withServer(starting: Promise<Server>, use: (server: Server) => Promise<void>): Promise<void> {
  const server = await starting
  try {
    await use(server)
  } finally {
    await server.stop()
  }
}

describeWith(['redis'], 'three instances on Redis', () => {
  test('are replaced twice, and no request fails behind a balancer that never repeats a request', () =>
    withServer(startRedis(), ({ port }) =>
      roll(`redis://${host}:${port}`, 2, (ports) => Balancer.start(ports.map((one) => `http://${host}:${one}`))),
    ))
})

describeWith(['postgres', 'haproxy'], 'three instances on PostgreSQL', () => {
  test('are replaced behind HAProxy', () =>
    withServer(startPostgres(), ({ port }) =>
      roll(`postgres://postgres@${host}:${port}/postgres`, 1, behindHaproxy(false)),
    ))
})

describeWith(['redis', 'haproxy'], 'three instances, of which one is killed', () => {
  test('lose no request behind an HAProxy that repeats requests, as docs/service-deployment.md has it', () =>
    withServer(startRedis(), ({ port }) =>
      withFleet(`redis://${host}:${port}`, behindHaproxy(true), async ({ running }) => {
        running[0]?.child.kill('SIGKILL')
        await running[0]?.ended
      }),
    ))
})
