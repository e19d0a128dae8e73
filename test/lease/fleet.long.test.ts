import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { acquireLease } from 'graupel/lease'
import type { Store } from 'graupel/stores'
import { redisStore } from 'graupel/stores/redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serverKinds } from '../stores/kinds/index.ts'
import { load, type Open } from '../stores/kinds/kind.ts'
import { startRedis } from '../stores/kinds/redis.ts'
import type { StorePlan } from '../stores/programs/open-store.js'
import type { Server } from '../stores/servers.ts'
import { describeWith } from '../support/needs.ts'
import { eventually, until } from '../support/until.ts'

// Fleets on real servers. timing.test.ts proves how many writes 64 processes take, which depends on the time
// that a write takes; the benchmarks measure that time.

const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function started(start: () => Promise<Server>): Promise<Server> {
  const server = await start()
  ends.push(() => server.stop())
  return server
}

describe('processes that begin together', () => {
  let children: ChildProcess[]
  beforeAll(async () => {
    children = await Promise.all(Array.from({ length: 64 }, startProcess))
  })
  const tell = (message: 'go' | StorePlan) =>
    Promise.all(
      children.map((child) => {
        const answer = messageOf(child)
        child.send(message)
        return answer
      }),
    )

  for (const [kind, { name, missing, start, clients, isFetched }] of Object.entries(serverKinds)) {
    describeWith([missing], name, () => {
      it('gives each a node of its own', async () => {
        const server = await started(start)
        const [client, open] = Object.entries(clients)[0] as [string, Open]
        const { store, close } = await open(server.port)
        await eventually<unknown>(() => (store.setup ?? store.nowMs)?.())
        await close()
        await tell({ client: isFetched ? kind : client, port: server.port } as StorePlan)
        const got = (await tell('go')) as { node: number; writes: number }[]
        expect(new Set(got.map(({ node }) => node)).size).toBe(64)
        const writes = got.reduce((sum, one) => sum + one.writes, 0)
        console.info(
          `${name}: 64 processes that began together took ${writes / 64} writes each, ${Math.max(...got.map((one) => one.writes))} at most`,
        )
      }, 600_000)
    })
  }
})

async function startProcess(): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('./programs/chaos-start.js', import.meta.url))
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  ends.push(() => child.kill('SIGKILL'))
  // Sixty-four that start would keep the server, and what else is tested meanwhile, from the processor for
  // seconds.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  await messageOf(child)
  return child
}

/** Waits for the next message of a process. Rejects if the process ends instead. */
async function messageOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  const { signal } = over
  const early = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a process ended with ${code}`)
  })
  try {
    return await Promise.race([once(child, 'message', { signal }).then(([message]) => message), early])
  } finally {
    early.catch(() => {})
    over.abort()
  }
}

describe('a thousand leases on one store', () => {
  it('write five hundred times a second at most, all together', async () => {
    const { port } = await started(startRedis)
    const client = new (load('ioredis').Redis)({ port, host: '127.0.0.1' })
    ends.push(() => client.disconnect())
    const inner = redisStore(client, { assumeDurable: true })
    let writes = 0
    const store: Store = {
      ...inner,
      write(...words) {
        writes++
        return inner.write(...words)
      },
    }
    const startMs = performance.now()
    const leases: { stats(): { renewals: number }; release(): Promise<void> }[] = []
    for (let node = 0; node < 1000; node++) leases.push(await acquireLease({ store, node }))
    await until(() => leases.every((lease) => lease.stats().renewals >= 2))
    // Each renews in thirds of a window, two seconds, after it was acquired; one write each acquired it.
    const renewals = writes - leases.length
    const seconds = (performance.now() - startMs) / 1000
    console.info(`a thousand leases: ${renewals} writes to renew them, within ${seconds} s`)
    expect(renewals).toBeGreaterThanOrEqual(2 * leases.length)
    expect(renewals / seconds).toBeLessThanOrEqual(500)
    await Promise.all(leases.map((lease) => lease.release()))
  })
})
