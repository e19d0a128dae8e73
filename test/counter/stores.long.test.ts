import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TcpProxy, weathers } from '../lease/chaos-proxy.ts'
import { eventually } from '../stores/eventually.ts'
import { describeServers } from '../stores/kinds/describe.ts'
import type { StorePlan } from '../stores/programs/open-store.js'
import { seededRandom } from '../support/random.ts'
import { type Counting, Fleet } from './fleet.ts'

// Processes that count under one name on real servers.

/** What each process takes by many calls at once, and then one by one. */
const many = { processes: 8, work: { together: 100, count: 19_950, alone: 50 } }
/** For the other kinds: to the counter a store is a store. */
const few = { processes: 3, work: { together: 20, count: 200, alone: 5 } }
const kindsWithMany = ['redis', 'postgres']
const faultsMs = 5000

const clients: Readonly<Record<string, Exclude<StorePlan, { file: string }>['client']>> = {
  redis: 'ioredis',
  postgres: 'pg',
  mysql: 'mysql2',
  etcd: 'etcd',
  zookeeper: 'node-zookeeper-client',
  consul: 'consul',
  kubernetes: 'kubernetes',
}

describeServers('a counter', (kind, about, server) => {
  const hasMany = kindsWithMany.includes(kind)
  const { processes, work } = hasMany ? many : few
  const planFor = (port: number) => ({ client: clients[kind], port }) as StorePlan
  let fleet: Fleet

  beforeEach(async () => {
    fleet = new Fleet()
    const [open] = Object.values(about.clients)
    const opened = await open?.(server().port)
    await eventually(async () => opened?.store.setup?.())
    await opened?.close()
  })
  afterEach(() => fleet.clear())

  it(`of ${processes} processes has no gap and no repeat`, async () => {
    const all = await Promise.all(Array.from({ length: processes }, () => fleet.start(planFor(server().port), work)))
    await Promise.all(all.map(({ ready }) => ready))
    for (const process of all) process.tell('go')
    const stats = await Promise.all(all.map((process) => process.end()))
    // One more of each, which would give what was left.
    const last = processes * (work.count + work.alone + 1)
    expect(fleet.faults()).toEqual({ last, repeated: [], missing: 0 })
    expect(stats.reduce((sum, { issued }) => sum + issued, 0)).toBe(last)
    expect(
      stats.reduce((sum, { conflicts }) => sum + conflicts, 0),
      'the processes have to meet',
    ).toBeGreaterThan(0)
  })

  it.runIf(hasMany)(
    'misses at most what a killed process had under way, whatever is lost, late or cut off, and the server killed',
    async () => {
      const random = seededRandom(`a counter on ${kind}`)
      const endless = { together: 10, count: null, alone: 0, callTimeoutMs: 300 }
      const proxies = await Promise.all(Array.from({ length: 4 }, () => TcpProxy.start(() => server().port, random)))
      const begin = async (proxy: TcpProxy): Promise<Counting> => {
        const process = await fleet.start(planFor(proxy.port), endless)
        process.tell('go')
        return process
      }
      const all = await Promise.all(proxies.map(begin))
      await Promise.all(all.map(({ ready }) => ready))
      let kills = 0
      const endMs = performance.now() + faultsMs
      for (let step = 1; performance.now() < endMs; step++) {
        await sleep(200)
        const at = Math.floor(random() * proxies.length)
        const proxy = proxies[at] as TcpProxy
        const weather = weathers[Math.floor(random() * weathers.length)] ?? 'fair'
        if (random() < 0.3) proxy.cut()
        else proxy.weather = random() < 0.5 ? 'fair' : weather
        if (step % 5 === 0) {
          kills++
          await all[at]?.kill()
          all[at] = await begin(proxy)
        }
        if (step === 8) await server().restart('SIGKILL')
      }
      for (const proxy of proxies) proxy.weather = 'fair'
      for (const process of all) process.tell('stop')
      await Promise.all(all.map((process) => process.end()))
      for (const proxy of proxies) proxy.stop()
      const { last, repeated, missing } = fleet.faults()
      expect(repeated).toEqual([])
      expect(kills).toBeGreaterThan(2)
      expect(last).toBeGreaterThan(1000)
      // The numbers of its calls, and those of calls that had failed shortly before.
      expect(missing).toBeLessThanOrEqual(kills * endless.together * 2)
      console.info(`a counter on ${kind}: ${last} numbers, ${missing} of them missing after ${kills} kills`)
    },
  )
})
