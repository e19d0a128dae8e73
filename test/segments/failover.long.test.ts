import { afterEach, describe, expect, it } from 'vitest'
import { TcpProxy } from '../chaos/proxy.ts'
import { host, load, type Open, type ServerKind } from '../stores/kinds/kind.ts'
import { postgres, startStandby } from '../stores/kinds/postgres.ts'
import { redis } from '../stores/kinds/redis.ts'
import type { StorePlan } from '../stores/programs/open-store.js'
import { startReplica, tell } from '../stores/redis-servers.ts'
import type { Server } from '../stores/servers.ts'
import { describeWith } from '../support/needs.ts'
import { eventually } from '../support/until.ts'
import { goOn, proveMembers } from './members.ts'

/** A kind of server that acknowledges writes before its replica has them. */
interface Replicated {
  readonly kind: ServerKind
  /** The clients of open-store.js, one for each process. */
  readonly clients: readonly [string, string, string]
  /** @param linkPort - The port of a proxy to the primary. */
  follow(primaryPort: number, linkPort: number): Promise<Server>
  promote(follower: Server): Promise<unknown>
}

const replicated: Record<string, Replicated> = {
  Redis: {
    kind: redis,
    clients: ['ioredis', 'node-redis', 'glide'],
    follow: (_, port) => startReplica({ port }),
    promote: ({ port }) => tell(port, ['REPLICAOF', 'NO', 'ONE']),
  },
  PostgreSQL: {
    kind: postgres,
    clients: ['pg', 'postgres.js', 'pg'],
    follow: startStandby,
    async promote({ port }) {
      const client = new (load('pg').Client)({ port, host, user: 'postgres' })
      await client.connect()
      await client.query('SELECT pg_promote()')
      await client.end()
    },
  },
}

const used: (() => unknown)[] = []
afterEach(async () => {
  for (const end of used.splice(0).reverse()) await end()
})

async function started(starting: Promise<Server>): Promise<Server> {
  const server = await starting
  used.push(() => server.stop())
  return server
}

/** Reads the first of the next numbers from the record on a server. */
async function nextOn({ port }: Server, { clients }: ServerKind): Promise<number> {
  const { store, close } = await (Object.values(clients)[0] as Open)(port)
  try {
    const found = await eventually(() => store.read('numbers/orders'))
    return Number(JSON.parse(found?.value ?? '{}').next)
  } finally {
    await close()
  }
}

describe.each(Object.entries(replicated))('a failover', (name, { kind, clients, follow, promote }) => {
  describeWith([kind.missing, 'faketime'], `of ${name}`, () => {
    it('to a server that has missed writes gives no number again', async () => {
      const primary = await started(kind.start())
      const { store, close } = await (Object.values(kind.clients)[0] as Open)(primary.port)
      await store.setup?.()
      await close()
      const link = await TcpProxy.start(() => primary.port, Math.random)
      used.push(() => link.stop())
      const follower = await started(follow(primary.port, link.port))
      let current = primary

      const { events } = await proveMembers(
        `${name} that fails over`,
        (slot, port) => ({ client: clients[slot], port }) as StorePlan,
        () => current.port,
        async (fresh, ...others) => {
          link.shut()
          await goOn([fresh, ...others])
          // The first process on the replica knows only the replica's data.
          for (const { slot } of others) slot.stop()
          await fresh.slot.kill()
          const given = await nextOn(primary, kind)
          await primary.signal('SIGKILL')
          await promote(follower)
          expect(await nextOn(follower, kind)).toBeLessThan(given)
          current = follower
          fresh.slot.start()
          await goOn([fresh])
          for (const { slot } of others) slot.go()
        },
      )
      expect(events['skipped']).toBeGreaterThan(0)
    })
  })
})
