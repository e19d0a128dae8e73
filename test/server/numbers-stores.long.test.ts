import { afterAll, beforeAll, expect, it } from 'vitest'
import { startRedis } from '../stores/kinds/redis.ts'
import type { Server } from '../stores/servers.ts'
import { describeWith } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { serve } from './support/process.ts'

// Two services on one Redis, which is killed and restarted while they answer.

let redis: Server

/** Sends several requests at once to a service, until it is told to end. */
class Load {
  readonly numbers: bigint[] = []
  refused = 0
  #isEnding = false
  readonly #done: Promise<unknown>
  readonly #url: string

  constructor(url: string, width: number) {
    this.#url = url
    this.#done = Promise.all(Array.from({ length: width }, () => this.#run()))
  }

  /** Sends one request. Resolves to false if it was refused. */
  async ask(): Promise<boolean> {
    const answer = await fetch(this.#url)
    const body = (await answer.json()) as { counts?: string[]; numbers?: string[] }
    if (answer.status === 200) this.numbers.push(...(body.counts ?? body.numbers ?? []).map(BigInt))
    else {
      expect(answer.status).toBe(503)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      this.refused++
    }
    return answer.status === 200
  }

  async end(): Promise<void> {
    this.#isEnding = true
    await this.#done
  }

  async #run(): Promise<void> {
    while (!this.#isEnding) await this.ask()
  }
}

describeWith(['redis'], 'Redis that is killed under load', () => {
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.stop())

  it('leaves no gap in a counter of two services, and repeats nothing', async () => {
    const flags = ['--store', `redis://127.0.0.1:${redis.port}`, '--assume-durable']
    const services = await Promise.all([serve(flags), serve(flags)])
    const loads = services.flatMap(({ url }) => [
      new Load(`${url}/v1/counters/bills`, 4),
      new Load(`${url}/v1/counters/bills?count=5`, 2),
    ])
    const haveMore = async (more: number) => {
      const counts = loads.map(({ numbers }) => numbers.length + more)
      await until(() => loads.every(({ numbers }, i) => numbers.length >= (counts[i] as number)))
    }
    await haveMore(30)
    await redis.signal('SIGKILL')
    await until(() => loads.every(({ refused }) => refused > 0))
    await redis.restart()
    await haveMore(30)
    for (const load of loads) await load.end()

    // The counts of refused requests go to later requests of the same service.
    const isWhole = () => {
      const sorted = loads.flatMap(({ numbers }) => numbers).toSorted((a, b) => (a < b ? -1 : 1))
      return sorted.every((number, i) => number === BigInt(i + 1))
    }
    await until(async () => {
      if (isWhole()) return true
      for (const load of loads) await load.ask()
      return false
    })
    const all = loads.flatMap(({ numbers }) => numbers)
    expect(new Set(all).size).toBe(all.length)
  })

  it('lets segments of two services go on, and repeats nothing', async () => {
    const flags = ['--store', `redis://127.0.0.1:${redis.port}`, '--assume-durable']
    const services = await Promise.all([serve(flags), serve(flags)])
    const urls = services.map(({ url }) => `${url}/v1/segments/orders`)
    const loads = urls.map((url) => new Load(url, 1))
    await until(() => loads.every(({ numbers }) => numbers.length >= 20))
    await redis.signal('SIGKILL')
    const counts = loads.map(({ numbers }) => numbers.length + 20)
    await until(() => loads.every(({ numbers }, i) => numbers.length >= (counts[i] as number)))
    expect(loads.map(({ refused }) => refused)).toEqual([0, 0])
    // The requests go on until the fetched numbers are used up.
    const greedy = urls.map((url) => new Load(`${url}?count=500`, 1))
    await until(() => [...loads, ...greedy].every(({ refused }) => refused > 0))
    await redis.restart()
    const later = [...loads, ...greedy].map((load) => [load, load.numbers.length + 60] as const)
    await until(() => later.every(([load, count]) => load.numbers.length >= count))
    for (const load of [...loads, ...greedy]) await load.end()

    for (const { numbers } of loads) expect(numbers).toEqual(numbers.toSorted((a, b) => (a < b ? -1 : 1)))
    const all = [...loads, ...greedy].flatMap(({ numbers }) => numbers)
    expect(new Set(all).size).toBe(all.length)
  })
})
