import { afterEach, beforeEach, expect, it } from 'vitest'
import { createCounter } from '../../src/segments/index.js'
import { redisStore } from '../../src/stores/redis.js'
import { openStore } from '../../src/stores/url/index.js'
import { projectWith } from '../cli/fleet.ts'
import { describeWith } from '../support/needs.ts'
import { host, load, quiet } from './kinds/kind.ts'
import { startRedis } from './kinds/redis.ts'
import { type LossyProxy, startProxy } from './proxy.ts'
import { callsOf } from './real-time.ts'
import type { Server } from './servers.ts'

const used: (() => unknown)[] = []
let server: Server
let proxy: LossyProxy
beforeEach(async () => {
  server = await startRedis()
  used.push(() => server.stop())
  proxy = await startProxy(server.port)
  used.push(() => proxy.close())
})
afterEach(async () => {
  for (const end of used.splice(0).reverse()) await end()
})

/** Connects each client, and returns it with the function by which it sends a command. */
const clients = {
  async ioredis() {
    const { Redis } = load('ioredis')
    const client = quiet(new Redis({ port: proxy.port, host }))
    used.push(() => client.disconnect())
    return { client, send: (command: string) => client.call(command) }
  },
  async 'node-redis'() {
    const client = quiet(load('redis').createClient({ url: `redis://${host}:${proxy.port}` }))
    await client.connect()
    used.push(() => client.destroy())
    return { client, send: (command: string) => client.sendCommand([command]) }
  },
  async 'node-redis 4'() {
    const client = quiet(load('redis-4').createClient({ url: `redis://${host}:${proxy.port}` }))
    await client.connect()
    used.push(() => client.disconnect())
    return { client, send: (command: string) => client.sendCommand([command]) }
  },
  async 'valkey-glide'() {
    const { GlideClient, Logger } = load('@valkey/valkey-glide')
    Logger.init('off')
    const client = await GlideClient.createClient({ addresses: [{ host, port: proxy.port }] })
    used.push(() => client.close())
    return { client, send: (command: string) => client.customCommand([command]) }
  },
}

describeWith(['redis'], 'a client of Redis', () => {
  it.each(Object.entries(clients))('%s inside MULTI is refused, and counts go on after it', async (_name, connect) => {
    const { client, send } = await connect()
    const counter = await createCounter({ store: redisStore(client), name: 'orders' })
    expect(await counter.next()).toBe('1')
    await send('MULTI')
    await expect(counter.next()).rejects.toMatchObject({
      code: 'ERR_STORE_UNSAFE',
      message: expect.stringContaining('inside MULTI'),
    })
    await send('DISCARD')
    expect(await counter.next()).toBe('2')
  })

  it.each(Object.entries(clients))('%s gives no call the answer to another after a cut', async (name, connect) => {
    const { client } = await connect()
    const store = redisStore(client)
    const calls = callsOf(store, 500)
    const keys = Array.from({ length: 20 }, (_, i) => `folder/${i}`)
    // The values have different lengths, so that the rest of one answer ends within another.
    const valueFor = (key: string) => `${key} `.repeat(Number(key.slice(7)) + 1)
    for (const key of keys) await store.write(key, valueFor(key), undefined)
    const outcomeOf = (key: string) =>
      calls.read(key).then(
        (found) => (found?.value === valueFor(key) ? 'right' : 'another answer'),
        ({ code }) => code,
      )
    const outcomes = new Set<string>()
    for (const part of [0.3, 0.5, 0.7]) {
      proxy.cutReplyTo('EVAL', part)
      for (let round = 0; round < 2; round++) {
        for (const outcome of await Promise.all(keys.map(outcomeOf))) outcomes.add(outcome)
      }
    }
    expect(proxy.cuts).toBe(3)
    expect(outcomes).not.toContain('another answer')
    // Only node-redis 4 continues the half answer with what the next connection says.
    expect(outcomes.has('ERR_STORE_INVALID')).toBe(name === 'node-redis 4')
  })

  it('node-redis 4 is refused by openStore', async () => {
    const opening = openStore(`redis://${host}:${proxy.port}`, { clientsOf: `${projectWith('redis-4')}/` })
    await expect(opening).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('run: npm install redis@latest'),
    })
  })
})
