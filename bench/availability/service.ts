import { setTimeout as sleep } from 'node:timers/promises'
import { ask, Clients, Ids } from '../../test/server/support/clients.ts'
import { startHaproxy } from '../../test/server/support/haproxy.ts'
import { host } from '../../test/stores/kinds/kind.ts'
import { redis, startRedis } from '../../test/stores/kinds/redis.ts'
import { startService } from '../../test/stores/kinds/service.ts'
import type { Server } from '../../test/stores/servers.ts'
import { until } from '../../test/support/until.ts'
import { checkOf } from '../workloads/service.ts'

/** The results of the requests that clients send through HAProxy during an event. */
export interface ServiceRun {
  readonly event: ServiceEvent
  readonly at: string
  readonly requests: number
  /** Requests without an answer, or with one that was not 200. */
  readonly lost: number
  /** The longest time between two answers with ids, in seconds, of all clients together. */
  readonly gapS: number
}

const instances = 3
const clients = 8
const calmMs = 3000
const lostMs = 60_000

interface Running {
  readonly all: readonly Server[]
  readonly store: Server
  /** Waits until each client has had more answers. */
  goOn(): Promise<void>
}

interface Case {
  readonly title: string
  readonly flags?: readonly string[]
  /** Whether HAProxy repeats requests. @default false */
  readonly repeats?: boolean
  happen(running: Running): Promise<void>
}

async function replaceAll({ all, goOn }: Running): Promise<void> {
  for (const one of all) {
    await one.restart('SIGTERM')
    await until(() => isReady(one.port))
    await goOn()
  }
}

async function loseOne({ all, goOn }: Running): Promise<void> {
  const [first] = all as [Server]
  await first.signal('SIGKILL')
  await goOn()
  await first.restart()
  await until(() => isReady(first.port))
}

async function loseStore({ all, store }: Running): Promise<void> {
  await store.signal('SIGTERM')
  await sleep(lostMs)
  await store.restart()
  for (const { port } of all) await until(() => isReady(port))
}

const durable = ['--assume-durable']

export const serviceEvents = {
  nothing: { title: 'nothing', happen: () => sleep(10_000) },
  rolling: { title: 'rolling restart: each instance by `SIGTERM`, one after the other', happen: replaceAll },
  'node-lost': { title: 'an instance is lost by `kill -9`', happen: loseOne },
  'node-lost-repeating': {
    title: 'the same, and HAProxy repeats requests',
    repeats: true,
    happen: loseOne,
  },
  'store-lost': { title: 'the store is stopped for 60 s', happen: loseStore },
  'store-lost-forgetful': {
    title: 'the same, without `--assume-durable`',
    flags: [],
    happen: loseStore,
  },
  'store-lost-longest': {
    title: 'the same, with `--window-ms 3600000`',
    flags: [...durable, '--window-ms', '3600000'],
    happen: loseStore,
  },
} as const satisfies Readonly<Record<string, Case>>

export type ServiceEvent = keyof typeof serviceEvents
export const serviceEventNames = Object.keys(serviceEvents) as ServiceEvent[]

async function isReady(port: number): Promise<boolean> {
  return ask(`http://${host}:${port}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  )
}

/** Lets an event happen to three instances on a Redis, behind HAProxy, while clients ask for ids. */
export async function measureService(event: ServiceEvent): Promise<ServiceRun> {
  const { flags = durable, repeats = false, happen }: Case = serviceEvents[event]
  const started: Server[] = []
  const keep = async (starting: Promise<Server>) => {
    const server = await starting
    started.push(server)
    return server
  }
  try {
    const store = await keep(startRedis())
    const own = ['--store', redis.url(store.port), '--drain-ms', '3000', ...flags]
    const all: Server[] = []
    for (let i = 0; i < instances; i++) all.push(await keep(startService(...own)))
    for (const { port } of all) await until(() => isReady(port))
    const front = await keep(
      startHaproxy(
        all.map(({ port }) => port),
        repeats,
      ),
    )
    await until(() => isReady(front.port))
    const ids = new Ids(1)
    let gapMs = 0
    let answeredMs = Date.now()
    const load = new Clients(
      clients,
      () => ids.urlAt(`http://${host}:${front.port}`),
      (answer) => {
        ids.take(answer)
        gapMs = Math.max(gapMs, Date.now() - answeredMs)
        answeredMs = Date.now()
      },
    )
    await load.goOn()
    await sleep(calmMs)
    const answered = () => load.answered.reduce((sum, count) => sum + count, 0)
    const before = answered()
    gapMs = 0
    const at = new Date().toISOString()
    await happen({ all, store, goOn: () => load.goOn() })
    await load.goOn()
    await load.stop()
    const lost = load.broken.length + load.refusals.length
    if (checkOf(ids.arrays).repeats > 0) throw new Error('an id came twice')
    return { event, at, requests: answered() - before + lost, lost, gapS: Math.round(gapMs / 10) / 100 }
  } finally {
    for (const one of started.reverse()) await one.stop()
  }
}
