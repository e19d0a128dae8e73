import { afterEach, expect, it } from 'vitest'
import { redisStore } from '../../src/stores/redis.js'
import { storeContract } from '../../src/stores/testing.js'
import { describeWith } from '../support/needs.ts'
import { eventually } from '../support/until.ts'
import { load, type Open, type Opened } from './kinds/kind.ts'
import { redisClients, startRedis } from './kinds/redis.ts'
import { callsOf } from './real-time.ts'
import { startReplica, tell } from './redis-servers.ts'
import type { Server } from './servers.ts'

const used: (() => unknown)[] = []
afterEach(async () => {
  for (const end of used.splice(0).reverse()) await end()
})

async function started(starting: Promise<Server>): Promise<Server> {
  const server = await starting
  used.push(() => server.stop())
  return server
}

async function opened(server: Server, open: Open = redisClients['ioredis'] as Open): Promise<Opened['store']> {
  const { store, close } = await open(server.port)
  used.push(close)
  return store
}

describeWith(['redis'], 'Redis', () => {
  it('is refused if it evicts keys', async () => {
    const server = await started(startRedis('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'))
    const store = await opened(server)
    for (const call of [store.incarnation?.(), callsOf(store).incarnation()]) {
      await expect(call).rejects.toMatchObject({
        code: 'ERR_STORE_UNSAFE',
        message: expect.stringContaining('maxmemory-policy allkeys-lru'),
      })
    }
  })

  it.each([
    ['0', 'allkeys-lru'],
    ['100mb', 'volatile-lru'],
    ['100mb', 'noeviction'],
  ])('that has maxmemory %s and %s is not', async (maxmemory, policy) => {
    const server = await started(startRedis('--maxmemory', maxmemory, '--maxmemory-policy', policy))
    expect(await (await opened(server)).incarnation?.()).toMatch(/^\w{40} \w{40}$/)
  })

  it('has another life if it restarts without its data, and refuses the versions of the earlier life', async () => {
    const server = await started(startRedis('--appendonly', 'no'))
    const store = await opened(server)
    const version = await store.write('folder/1', 'first', undefined)
    const life = await store.incarnation?.()
    await server.restart('SIGKILL')
    expect(await eventually(() => store.read('folder/1'))).toBeUndefined()
    expect(await store.incarnation?.()).not.toBe(life)
    expect(await store.write('folder/1', 'second', version)).toBeUndefined()
    expect(await store.write('folder/1', 'second', undefined)).not.toBe(version)
  })

  // valkey-glide does not connect to a replica.
  it.each(['ioredis', 'node-redis'])('refuses reads and writes on a replica, by %s', async (client) => {
    const open = redisClients[client] as Open
    const primary = await started(startRedis())
    const replica = await started(startReplica(primary))
    const version = await (await opened(primary, open)).write('folder/1', 'x', undefined)
    await eventually(async () => expect(await tell(replica.port, ['DBSIZE'])).toEqual([1]))
    const store = await opened(replica, open)
    for (const expected of [undefined, version]) {
      await expect(store.write('folder/1', 'y', expected)).rejects.toThrow(/read.?only/i)
    }
    await expect(store.read('folder/1')).rejects.toThrow(/read.?only/i)
  })

  it('lets calls reach their deadline while it is stopped, and goes on afterwards', async () => {
    const server = await started(startRedis())
    const store = await opened(server)
    await server.signal('SIGSTOP')
    await expect(callsOf(store, 300).read('folder/1')).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    await server.signal('SIGCONT')
    expect(await eventually(() => callsOf(store).read('folder/1'))).toBeUndefined()
  })

  it('needs no commands and keys beyond those in the documents', async () => {
    const server = await started(startRedis())
    const commands = 'EVAL, HGET, HGETALL, HINCRBY, HSET, INFO, PERSIST and TIME'.match(/[A-Z]+/g) ?? []
    const rules = commands.map((command) => `+${command.toLowerCase()}`)
    await tell(server.port, ['ACL', 'SETUSER', 'fleet', 'on', '>secret', '~{graupel}*', ...rules])
    const { Redis } = load('ioredis')
    const client = new Redis({ port: server.port, username: 'fleet', password: 'secret', enableReadyCheck: false })
    used.push(() => client.disconnect())
    // Leases do not need HDEL.
    const { remove: _, ...unremoving } = redisStore(client)
    for (const { run } of storeContract(async () => unremoving)) await run()
  })

  it('does not change a record by reading it', async () => {
    const server = await started(startRedis())
    const store = await opened(server)
    await store.write('folder/1', 'x', undefined)
    const changes = async () => {
      const [about] = await tell(server.port, ['INFO', 'persistence'])
      return /rdb_changes_since_last_save:(\d+)/.exec(`${about}`)?.[1]
    }
    const before = await changes()
    await store.read('folder/1')
    expect(Number(before)).toBeGreaterThan(0)
    expect(await changes()).toBe(before)
  })
})
