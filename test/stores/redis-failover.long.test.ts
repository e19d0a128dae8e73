import { afterEach, expect, it } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { eventually } from '../support/until.ts'
import type { Open } from './kinds/kind.ts'
import { redisClients, startRedis, startSentinel } from './kinds/redis.ts'
import { startProxy } from './proxy.ts'
import { startReplica, tell } from './redis-servers.ts'
import type { Server } from './servers.ts'

// A network that cuts a primary off from Sentinel and from two of its three replicas. Sentinel promotes one
// of the two, and the former primary still has one.

const used: (() => unknown)[] = []
const warnings: Error[] = []
const listen = (warning: Error) => warnings.push(warning)
afterEach(async () => {
  process.off('warning', listen)
  warnings.length = 0
  for (const end of used.splice(0).reverse()) await end()
})

async function started<T extends Pick<Server, 'stop'>>(starting: Promise<T>): Promise<T> {
  const server = await starting
  used.push(() => server.stop())
  return server
}

/**
 * Starts a primary with three replicas. The returned function waits until the cut primary has a successor.
 */
async function startSplit(...given: string[]) {
  const settings = [...given, '--repl-diskless-sync-delay', '0']
  const primary = await started(startRedis(...settings))
  const network = await startProxy(primary.port)
  used.push(() => network.close())
  // Sentinel cannot reach the first replica, because it does not know its password.
  const near = await started(startReplica(primary))
  await tell(near.port, ['CONFIG', 'SET', 'requirepass', 'secret'])
  for (let i = 0; i < 2; i++) await started(startReplica(network, ...settings))
  const sentinel = await started(startSentinel(network))
  await eventually(async () => {
    const [replicas] = await tell(sentinel.port, ['SENTINEL', 'REPLICAS', 'fleet'])
    if ((replicas as unknown[]).length !== 3) throw new Error('the sentinel has not found the replicas yet')
  })
  const cut = async () => {
    network.close()
    return eventually(async () => {
      const [address] = await tell(sentinel.port, ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'fleet'])
      const port = Number((address as string[])[1])
      if (port === network.port) throw new Error('the sentinel still names the former primary')
      const [about] = await tell(port, ['INFO', 'replication'])
      if (!/role:master.*connected_slaves:1\r/s.test(`${about}`)) throw new Error(`not promoted yet: ${about}`)
      return port
    })
  }
  return { primary, cut }
}

async function opened(port: number) {
  const { store, close } = await (redisClients['ioredis'] as Open)(port)
  used.push(close)
  return store
}

const warned = () => eventually(() => expect(warnings.map(({ message }) => message)).toHaveLength(1))

describeWith(['redis'], 'Redis with Sentinel and three replicas', () => {
  it('has two primaries that acknowledge if min-replicas-to-write is 1, and a lease is told so', async () => {
    process.on('warning', listen)
    const { primary, cut } = await startSplit('--min-replicas-to-write', '1')
    const store = await opened(primary.port)
    expect(await store.incarnation?.()).toBeTypeOf('string')
    await warned()
    expect(warnings[0]).toMatchObject({
      code: 'GRAUPEL_REDIS_REPLICAS',
      message: expect.stringMatching(
        /has 3 replicas and min-replicas-to-write 1,.*set min-replicas-to-write 2 on each/,
      ),
    })
    const promoted = await opened(await cut())
    expect(await store.write('folder/1', 'former', undefined)).toBeTypeOf('string')
    expect(await promoted.write('folder/1', 'present', undefined)).toBeTypeOf('string')
    await store.incarnation?.()
    await warned()
  })

  it('has no two if it is 2, and nothing is told', async () => {
    process.on('warning', listen)
    const { primary, cut } = await startSplit('--min-replicas-to-write', '2')
    const store = await opened(primary.port)
    await store.write('folder/1', 'before', undefined)
    await store.incarnation?.()
    const promoted = await opened(await cut())
    for (const one of [store, promoted]) {
      await expect(one.write('folder/2', 'after', undefined)).rejects.toThrow('NOREPLICAS')
      await expect(one.read('folder/1')).rejects.toThrow('NOREPLICAS')
    }
    expect(warnings).toEqual([])
  })
})

describeWith(['redis'], 'Redis with a replica', () => {
  it.each([...Object.entries(redisClients)])('is warned of without min-replicas-to-write, by %s', async (_, open) => {
    process.on('warning', listen)
    const primary = await started(startRedis())
    await started(startReplica(primary))
    const { store, close } = await open(primary.port)
    used.push(close)
    await store.incarnation?.()
    await warned()
    expect(warnings[0]?.message).toContain('has 1 replicas and min-replicas-to-write 0')
    await tell(primary.port, ['CONFIG', 'SET', 'min-replicas-to-write', '1'])
    const { store: another, close: end } = await open(primary.port)
    used.push(end)
    await another.incarnation?.()
    await warned()
  })
})
