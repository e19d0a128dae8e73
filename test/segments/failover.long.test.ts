import { afterEach, expect, it } from 'vitest'
import { redisStore } from '../../src/stores/redis.js'
import { TcpProxy } from '../chaos/proxy.ts'
import { eventually } from '../stores/eventually.ts'
import { host, load } from '../stores/kinds/kind.ts'
import { startRedis } from '../stores/kinds/redis.ts'
import { startReplica, tell } from '../stores/redis-servers.ts'
import type { Server } from '../stores/servers.ts'
import { describeWith } from '../support/needs.ts'
import { goOn, proveMembers } from './members.ts'

const clients = ['ioredis', 'node-redis', 'glide'] as const

const used: (() => unknown)[] = []
afterEach(async () => {
  for (const end of used.splice(0).reverse()) await end()
})

/** What the record on a primary says. */
async function nextOn({ port }: Server): Promise<number> {
  const client = new (load('ioredis').Redis)({ port, host })
  try {
    const found = await eventually(() => redisStore(client).read('numbers/orders'))
    return Number(JSON.parse(found?.value ?? '{}').next)
  } finally {
    client.disconnect()
  }
}

describeWith(['redis', 'faketime'], 'Redis that fails over', () => {
  it('to a replica that has missed writes gives no number again', async () => {
    const primary = await startRedis()
    used.push(() => primary.stop())
    const link = await TcpProxy.start(() => primary.port, Math.random)
    used.push(() => link.stop())
    const replica = await startReplica({ ...primary, port: link.port })
    used.push(() => replica.stop())
    let current = primary

    const { events } = await proveMembers(
      'Redis that fails over',
      (slot, port) => ({ client: clients[slot] as (typeof clients)[number], port }),
      () => current.port,
      async (fresh, ...others) => {
        link.shut()
        await goOn([fresh, ...others])
        // The first one to come to the replica is one that knows nothing but what is there.
        for (const { slot } of others) slot.stop()
        await fresh.slot.kill()
        const given = await nextOn(primary)
        await primary.signal('SIGKILL')
        await tell(replica.port, ['REPLICAOF', 'NO', 'ONE'])
        expect(await nextOn(replica)).toBeLessThan(given)
        current = replica
        fresh.slot.start()
        await goOn([fresh])
        for (const { slot } of others) slot.go()
      },
    )
    expect(events['skipped']).toBeGreaterThan(0)
  }, 300_000)
})
