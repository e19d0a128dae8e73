import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { host } from '../stores/kinds/kind.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import { startRedis } from '../stores/kinds/redis.ts'
import { freePort, type Server } from '../stores/servers.ts'
import { duplicatesAmong, total } from '../support/ids.ts'
import { describeWith, libfaketime } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { ask, Clients, Counts, Ids, Watch } from './support/clients.ts'
import { serveOn } from './support/instance.ts'
import { endedProcess, folder, type Serving, serve, workersOf } from './support/process.ts'

// Faults of the store, the clock and the service's own processes, while clients request ids and counts.
// Requests may fail, but ids and counts stay right.

const windowMs = 1500
const flags = ['--window-ms', `${windowMs}`, '--drain-ms', '0']
const idsOfAnswer = 20

/** Clients of several instances, which check all their answers at the end. */
class Load {
  readonly ids = new Ids(idsOfAnswer)
  readonly counts = new Counts()
  readonly forIds: Clients
  readonly forCounts: Clients

  /** @param urls - The URLs of the instances, among which the clients are divided. */
  constructor(urls: readonly string[]) {
    const urlOf = (client: number) => urls[client % urls.length] as string
    this.forIds = new Clients(12, (client) => this.ids.urlAt(urlOf(client)), this.ids.take)
    this.forCounts = new Clients(4, (client) => this.counts.urlAt(urlOf(client)), this.counts.take)
  }

  /** Waits until every client has received more answers. */
  async goOn(): Promise<void> {
    await Promise.all([this.forIds.goOn(), this.forCounts.goOn()])
  }

  get broken(): string[] {
    return [...this.forIds.broken, ...this.forCounts.broken]
  }

  /** Checks the properties that hold after every fault. */
  async end(): Promise<void> {
    await Promise.all([this.forIds.stop(), this.forCounts.stop()])
    expect(duplicatesAmong(this.ids.arrays)).toBe(0)
    expect(this.ids.descents).toBe(0)
    expect(this.counts.repeated).toBe(0)
    // Each client asks for one count at a time, so a lost answer is one missing count. A request that was
    // never sent is no missing count.
    const lost = this.forCounts.broken.filter((reason) => reason !== 'ECONNREFUSED').length
    expect(this.counts.missing).toBeLessThanOrEqual(lost)
    for (const refusal of [...this.forIds.refusals, ...this.forCounts.refusals]) {
      expect(refusal).toMatchObject({ status: 503, type: 'application/problem+json' })
      expect(refusal.retryAfter).toMatch(/^[1-9]\d?$/)
    }
    console.info(
      `${total(this.ids.arrays)} ids, ${this.counts.all.length} counts; ${this.forIds.refusals.length} and ${this.forCounts.refusals.length} refused, ${this.broken.length} broken, ${this.counts.missing} of ${lost} counts missing`,
    )
  }
}

const ports = (count: number) => Promise.all(Array.from({ length: count }, () => freePort()))
let folders = 0
const dataFolder = () => join(folder, `faults ${folders++}`)

/** Two instances on a store that goes away and comes back. */
class Pair {
  readonly load: Load
  readonly #watches: readonly Watch[]

  static async start(store: string): Promise<Pair> {
    const both = await ports(2)
    return new Pair(
      await Promise.all(both.map((port) => serveOn(port, ['--store', store, '--assume-durable', ...flags]))),
    )
  }

  private constructor(instances: readonly Serving[]) {
    this.#watches = instances.map(({ url }) => new Watch(url))
    this.load = new Load(instances.map(({ url }) => url))
  }

  /** Takes the store away until no instance has ids, and brings it back. */
  async outage(away: () => Promise<unknown>, back: () => Promise<unknown>): Promise<void> {
    const { forIds } = this.load
    await this.load.goOn()
    const refusedBefore = forIds.refusals.length
    await away()
    for (const [index, watch] of this.#watches.entries()) {
      const refusal = () => forIds.refusals.slice(refusedBefore).find(({ client }) => client % 2 === index)
      await until(() => refusal() !== undefined)
      expect(refusal()?.text).toContain('ERR_LEASE_EXPIRED')
      expect(watch.wasReady(refusal()?.atMs as number)).toBe(false)
    }
    await back()
    await until(() => this.#watches.every(({ isReady }) => isReady))
    await this.load.goOn()
  }

  async end(): Promise<void> {
    await Promise.all(this.#watches.map((watch) => watch.stop()))
    await this.load.end()
    // The counts of refused requests went to later requests.
    expect(this.load.broken).toEqual([])
  }
}

const stores: readonly [tool: 'redis' | 'postgres', start: () => Promise<Server>, url: (port: number) => string][] = [
  ['redis', () => startRedis(), (port) => `redis://${host}:${port}`],
  ['postgres', () => startPostgres(), (port) => `postgres://postgres@${host}:${port}/postgres`],
]
for (const [tool, start, urlOf] of stores) {
  describeWith([tool], tool, () => {
    test('may be killed at any time, briefly or for long, and all answers stay right', async () => {
      const server = await start()
      try {
        const pair = await Pair.start(urlOf(server.port))
        // PostgreSQL starts only after the last of its processes has ended.
        const again = () =>
          until(() =>
            server.restart('SIGKILL').then(
              () => true,
              () => false,
            ),
          )
        await pair.load.goOn()
        await again()
        await pair.load.goOn()
        await pair.outage(() => server.signal('SIGKILL'), again)
        // With PostgreSQL the signal would stop only one of many processes.
        if (tool === 'redis') {
          await pair.outage(
            () => server.signal('SIGSTOP'),
            () => server.signal('SIGCONT'),
          )
        }
        await pair.end()
      } finally {
        await server.stop()
      }
    })
  })
}

test('workers and their primary may be killed', async () => {
  const words = ['--data', dataFolder(), '--workers', '3', ...flags]
  const first = await serve(words)
  const [port] = await ports(1)
  const urls = [first.url]
  const load = new Load(urls)
  for (let kill = 0; kill < 2; kill++) {
    await load.goOn()
    const workers = workersOf(first.pid)
    expect(workers).toHaveLength(3)
    process.kill(workers[kill] as number, 'SIGKILL')
    await until(() => first.stderr().split('a worker ended, and is started again').length === kill + 2)
    await load.goOn()
    await until(() => workersOf(first.pid).length === 3)
  }
  const workers = workersOf(first.pid)
  first.child.kill('SIGKILL')
  // It uses the same folder, and starts before the workers of the first primary have ended.
  const second = await serveOn(port as number, words)
  urls[0] = second.url
  for (const worker of workers) await endedProcess(worker)
  await load.goOn()
  await load.end()
  expect(load.broken.length).toBeGreaterThan(0)
})

test('a killed instance starts again at once on a folder that another instance also uses', async () => {
  const data = ['--data', dataFolder()]
  const [one = 0, other = 0] = await ports(2)
  const all = await Promise.all([serveOn(one, [...data, ...flags]), serveOn(other, [...data, ...flags])])
  const load = new Load(all.map(({ url }) => url))
  let [killed] = all
  for (let kill = 0; kill < 4; kill++) {
    await load.goOn()
    killed.child.kill('SIGKILL')
    await killed.ended
    killed = await serveOn(one, [...data, ...flags])
  }
  await load.goOn()
  await load.end()
  expect(load.broken.length).toBeGreaterThan(0)
})

describeWith(['redis', 'faketime'], 'the clock of one of two instances', () => {
  test('may step in both directions, and be set right again', async () => {
    const server = await startRedis()
    const file = join(folder, 'clock')
    const setClock = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`)
    setClock(0)
    const env = {
      LD_PRELOAD: libfaketime() as string,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
    try {
      const both = await ports(2)
      const words = ['--store', `redis://${host}:${server.port}`, '--assume-durable', ...flags]
      const instances = await Promise.all(both.map((port, index) => serveOn(port, words, index === 0 ? env : {})))
      const load = new Load(instances.map(({ url }) => url))
      const refusals = () => load.forIds.refusals.filter(({ client }) => client % 2 === 0).length
      for (const seconds of [-20, 20]) {
        await load.goOn()
        const before = refusals()
        setClock(seconds)
        await until(() => refusals() > before)
        setClock(0)
        await until(async () => (await ask(`${instances[0]?.url}/readyz`)).status === 200)
      }
      await load.goOn()
      await load.end()
      expect(load.broken).toEqual([])
      expect(load.forIds.refusals.filter(({ client }) => client % 2 === 1)).toEqual([])
    } finally {
      await server.stop()
    }
  })
})
