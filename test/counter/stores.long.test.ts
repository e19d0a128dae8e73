import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TcpProxy, weathers } from '../chaos/proxy.ts'
import { describeServers } from '../stores/kinds/describe.ts'
import type { StorePlan } from '../stores/programs/open-store.js'
import { seededRandom } from '../support/random.ts'
import { eventually, until } from '../support/until.ts'
import { Fleet } from './fleet.ts'

// Processes that count under one name on real servers.

/** The numbers that each process takes by many calls at once, and then one by one. */
const many = { processes: 8, work: { together: 200, count: 19_970, alone: 30 } }
/** The numbers for the other kinds, because the counter uses all stores alike. */
const few = { processes: 3, work: { together: 20, count: 200, alone: 5 } }
const kindsWithMany = ['redis', 'postgres']
const endless = { together: 10, count: null, alone: 0, callTimeoutMs: 300 }
const steps = 30
const stepMs = 120

const clients: Readonly<Record<string, Exclude<StorePlan, { file: string }>['client']>> = {
  redis: 'ioredis',
  postgres: 'pg',
  mysql: 'mysql2',
  dynamodb: 'aws-sdk',
  mongodb: 'mongodb',
  etcd: 'etcd',
  zookeeper: 'node-zookeeper-client',
  consul: 'consul',
  kubernetes: 'kubernetes',
  s3: 's3',
  azure: 'azure',
  google: 'google',
  service: 'service',
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
    // One more number of each process would show a number that was left out.
    const last = processes * (work.count + work.alone + 1)
    expect(fleet.faults()).toEqual({ last, repeated: [], missing: 0 })
    expect(stats.reduce((sum, { issued }) => sum + issued, 0)).toBe(last)
    expect(
      stats.reduce((sum, { conflicts }) => sum + conflicts, 0),
      'the processes have to compete',
    ).toBeGreaterThan(0)
  })

  it.runIf(hasMany)('has no gap and no repeat, whatever is lost, late or cut off, and the server killed', async () => {
    const random = seededRandom(`a counter on ${kind}`)
    const proxies = await Promise.all(Array.from({ length: 4 }, () => TcpProxy.start(() => server().port, random)))
    const all = await Promise.all(proxies.map(({ port }) => fleet.start(planFor(port), endless)))
    await Promise.all(all.map(({ ready }) => ready))
    for (const process of all) process.tell('go')
    for (let step = 0; step < steps; step++) {
      await sleep(stepMs)
      const proxy = proxies[Math.floor(random() * proxies.length)] as TcpProxy
      // The worst fault is a lost reply while another process goes on.
      const fault = random() < 0.6 ? 'loses replies' : weathers[Math.floor(random() * weathers.length)]
      proxy.weather = random() < 0.5 ? 'fair' : (fault ?? 'fair')
      if (step === steps / 2) await server().restart('SIGKILL')
    }
    for (const proxy of proxies) proxy.weather = 'fair'
    await until(() => fleet.faults().last > 100)
    for (const process of all) process.tell('stop')
    const stats = await Promise.all(all.map((process) => process.end()))
    for (const proxy of proxies) proxy.stop()
    const issued = stats.reduce((sum, { issued: of }) => sum + of, 0)
    expect(fleet.faults()).toEqual({ last: issued, repeated: [], missing: 0 })
    expect(issued).toBeGreaterThan(100)
  })

  it.runIf(hasMany)('misses at most the numbers that a killed process was taking', async () => {
    const begin = () => fleet.start(planFor(server().port), endless)
    const all = await Promise.all([begin(), begin(), begin()])
    await Promise.all(all.map(({ ready }) => ready))
    for (const process of all) process.tell('go')
    const kills = 3
    for (let at = 0; at < kills; at++) {
      await sleep(300)
      await all[at]?.kill()
      all[at] = await begin()
      await all[at]?.ready
      all[at]?.tell('go')
    }
    for (const process of all) process.tell('stop')
    await Promise.all(all.map((process) => process.end()))
    const { repeated, missing } = fleet.faults()
    expect(repeated).toEqual([])
    expect(missing).toBeLessThanOrEqual(kills * endless.together)
  })
})
