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

// Faults of what the service stands on, and of its own processes, while clients ask for ids and counts. Requests may fail; ids and counts
// may never be wrong.

const windowMs = 1500
const flags = ['--window-ms', `${windowMs}`, '--drain-ms', '0']
const idsOfAnswer = 20

/** Clients of some instances, which know at the end whether all that they were told was right. */
class Load {
  readonly ids = new Ids(idsOfAnswer)
  readonly counts = new Counts()
  readonly forIds: Clients
  readonly forCounts: Clients

  /** @param urls - Those of instances, which clients share out among themselves. */
  constructor(urls: readonly string[]) {
    const urlOf = (client: number) => urls[client % urls.length] as string
    this.forIds = new Clients(12, (client) => this.ids.urlAt(urlOf(client)), this.ids.take)
    this.forCounts = new Clients(4, (client) => this.counts.urlAt(urlOf(client)), this.counts.take)
  }

  /** Waits until every client has had more of what it asks for. */
  async goOn(): Promise<void> {
    await Promise.all([this.forIds.goOn(), this.forCounts.goOn()])
  }

  get broken(): string[] {
    return [...this.forIds.broken, ...this.forCounts.broken]
  }

  /** Whatever has happened, this holds. */
  async end(): Promise<void> {
    await Promise.all([this.forIds.stop(), this.forCounts.stop()])
    expect(duplicatesAmong(this.ids.arrays)).toBe(0)
    expect(this.ids.descents).toBe(0)
    expect(this.counts.repeated).toBe(0)
    // Each client asks for one count at a time, so an answer that was lost is one count. A request that was never sent is none.
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

  /** The store goes away until no instance has ids any more, and comes back. */
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
    // What was counted for requests that were refused went to later ones.
    expect(this.load.broken).toEqual([])
  }
}

const stores: readonly [tool: 'redis' | 'postgres', start: () => Promise<Server>, url: (port: number) => string][] = [
  ['redis', () => startRedis(), (port) => `redis://${host}:${port}`],
  ['postgres', () => startPostgres(), (port) => `postgres://postgres@${host}:${port}/postgres`],
]
for (const [tool, start, urlOf] of stores) {
  describeWith([tool], tool, () => {
    test('may be killed at any time, for short or for long, and what was told stays true', async () => {
      const server = await start()
      try {
        const pair = await Pair.start(urlOf(server.port))
        // PostgreSQL does not start before the last of its processes has ended.
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
        // Of PostgreSQL it would stop one process of many.
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
  // On the same folder, before the workers of the first one have ended.
  const second = await serveOn(port as number, words)
  urls[0] = second.url
  for (const worker of workers) await endedProcess(worker)
  await load.goOn()
  await load.end()
  expect(load.broken.length).toBeGreaterThan(0)
})

test('an instance that is killed starts again at once on the folder that another one uses, too', async () => {
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
  test('may be stepped, in both directions, and be put right', async () => {
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
