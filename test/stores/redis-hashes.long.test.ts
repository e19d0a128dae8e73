import { afterEach, expect, it } from 'vitest'
import { acquireLease } from '../../src/lease/index.js'
import { describeWith } from '../support/needs.ts'
import { eventually, until } from '../support/until.ts'
import { host, type Open } from './kinds/kind.ts'
import { clusterClients, redisClients, startRedis } from './kinds/redis.ts'
import { startCluster, tell } from './redis-servers.ts'
import type { Server } from './servers.ts'

// A folder of keys is one hash of Redis. A server has or loses it as a whole, also while a cluster moves its
// slot, and if Redis evicts it.

const used: (() => unknown)[] = []
afterEach(async () => {
  for (const end of used.splice(0).reverse()) await end()
})

const node = 'leases/fleet/0/1'

/** Begins to move the slot of the store's keys from the server that has it to another. */
async function beginMigration(servers: readonly Server[]): Promise<{ source: Server; target: Server; slot: string }> {
  const [first] = servers as [Server]
  const [slot] = await tell(first.port, ['CLUSTER', 'KEYSLOT', '{graupel}'])
  const ids = await Promise.all(servers.map(async ({ port }) => `${(await tell(port, ['CLUSTER', 'MYID']))[0]}`))
  const of = Math.floor(Number(slot) / 5461)
  const [source, target] = [servers[of] as Server, servers[(of + 1) % 3] as Server]
  await tell(target.port, ['CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', ids[of] as string])
  await tell(source.port, ['CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', ids[(of + 1) % 3] as string])
  return { source, target, slot: `${slot}` }
}

const runOf = async ({ port }: Server) => /run_id:(\w+)/.exec(`${(await tell(port, ['INFO', 'server']))[0]}`)?.[1]

describeWith(['redis'], 'a cluster of Redis whose slot migrates', () => {
  it.each(Object.entries(clusterClients))('names the run of the server that has the record, by %s', async (_, open) => {
    const cluster = await startCluster()
    used.push(() => cluster.stop())
    const { store, close } = await (open as Open)((cluster.servers[0] as Server).port)
    used.push(close)
    await store.write(node, 'before', undefined)
    const { source, target } = await beginMigration(cluster.servers)
    const [from, to] = [await runOf(source), await runOf(target)]

    expect(await store.incarnation?.(undefined, node)).toContain(from)
    const beforeMs = Date.now()
    const nowMs = await store.nowMs?.(undefined, node)
    expect(nowMs).toBeGreaterThan(beforeMs - 1000)
    expect(nowMs).toBeLessThan(Date.now() + 1000)
    // A folder that the source does not have is already the target's.
    await store.write('leases/other/0/1', 'new', undefined)
    expect(await store.incarnation?.(undefined, 'leases/other/0/1')).toContain(to)

    await tell(source.port, ['MIGRATE', host, `${target.port}`, '{graupel}:leases/fleet/0/', '0', '1000'])
    expect((await store.read(node))?.value).toBe('before')
    expect(await store.incarnation?.(undefined, node)).toContain(to)
  })

  it('shows that the server with the record has started again', async () => {
    const cluster = await startCluster()
    used.push(() => cluster.stop())
    const { store, close } = await (clusterClients['ioredis'] as Open)((cluster.servers[0] as Server).port)
    used.push(close)
    await store.write(node, 'before', undefined)
    const { source } = await beginMigration(cluster.servers)
    const life = await store.incarnation?.(undefined, node)
    await source.restart('SIGKILL')
    expect((await eventually(() => store.read(node)))?.value).toBe('before')
    expect(await store.incarnation?.(undefined, node)).not.toBe(life)
  })
})

describeWith(['redis'], 'Redis that evicts keys for a while', () => {
  it('loses the life of the server with its leases, so the next lease waits', { timeout: 90_000 }, async () => {
    const server = await startRedis()
    used.push(() => server.stop())
    const { store, close } = await (redisClients['ioredis'] as Open)(server.port)
    used.push(close)
    const first = await acquireLease({ store, nodes: [0, 1] })
    used.push(() => first.release())
    const [keys] = (await tell(server.port, ['KEYS', '*'])) as [string[]]
    const leases = keys.filter((key) => key.startsWith('{graupel}:leases/'))
    expect([keys.length, leases.length]).toEqual([2, 1])
    await tell(server.port, ['DEL', leases[0] as string])

    const evictedMs = Date.now()
    const second = await acquireLease({ store, nodes: [0, 1] })
    used.push(() => second.release())
    expect(Date.now() - evictedMs).toBeGreaterThan(11_000)
  })

  it('is noticed by a renewal, and the lease goes on when the policy is right again', async () => {
    const server = await startRedis()
    used.push(() => server.stop())
    const { store, close } = await (redisClients['ioredis'] as Open)(server.port)
    used.push(close)
    // The store counts as durable, so no lease asks for the incarnation.
    const lease = await acquireLease({ store: { ...store, durable: true }, windowMs: 600 })
    used.push(() => lease.release())
    const set = (policy: string) =>
      tell(server.port, ['CONFIG', 'SET', 'maxmemory', '100mb', 'maxmemory-policy', policy])
    await set('allkeys-lru')
    await until(() => lease.stats().failures > 0)
    const { renewals } = lease.stats()
    await set('noeviction')
    await until(() => lease.stats().renewals > renewals)
    expect(lease.signal.aborted).toBe(false)
  })
})
