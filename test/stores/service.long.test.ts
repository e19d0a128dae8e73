import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGenerator, type GraupelError } from '../../src/index.js'
import { acquireLease } from '../../src/lease/index.js'
import { serviceStore } from '../../src/stores/service.js'
import { freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { describeWith } from '../support/needs.ts'
import { eventually, until } from '../support/until.ts'
import { host } from './kinds/kind.ts'
import { startRedis } from './kinds/redis.ts'
import { startService } from './kinds/service.ts'
import type { Server } from './servers.ts'

// Leases over services that are killed while they renew.

const urlOf = ({ port }: Server) => `http://${host}:${port}`

describe('a service with its embedded database', () => {
  let server: Server
  beforeAll(async () => {
    server = await startService()
  }, 60_000)
  afterAll(() => server?.stop())

  it('is killed while leases renew: ids go on to the ceilings, come back by themselves, and are distinct', async () => {
    const namespace = freshNamespace()
    const open = () => acquireLease({ store: serviceStore({ url: urlOf(server) }), namespace, windowMs: 3000 })
    const leases = await Promise.all([open(), open(), open()])
    const generators = leases.map((lease) => createGenerator({ lease }))
    const made: bigint[][] = generators.map(() => [])
    for (let round = 0; round < 2; round++) {
      await until(() => leases.every((lease) => lease.stats().ceilingMs > Date.now() + 1000))
      await server.signal('SIGKILL')
      const refused: unknown[] = []
      await until(() => {
        for (const [i, ids] of generators.entries()) {
          try {
            for (let count = 0; count < 20; count++) made[i]?.push(ids.next())
          } catch (error) {
            refused[i] ??= (error as GraupelError).code
          }
        }
        return refused.filter(Boolean).length === generators.length
      })
      expect(refused).toEqual(Array(3).fill('ERR_LEASE_EXPIRED'))
      await server.restart()
      for (const [i, ids] of generators.entries()) made[i]?.push(await eventually(() => ids.nextAsync()))
    }
    for (const ids of made) expect(isAscending(ids)).toBe(true)
    expect(new Set(made.flat()).size).toBe(made.flat().length)
    await Promise.all(leases.map((lease) => lease.release()))
  })
})

describeWith(['redis'], 'services before Redis', () => {
  let redis: Server
  const servers: Server[] = []
  const startBefore = async (...flags: string[]) => {
    const server = await startService('--store', `redis://${host}:${redis.port}`, ...flags)
    servers.push(server)
    return server
  }
  beforeAll(async () => {
    redis = await startRedis()
  }, 60_000)
  afterAll(async () => {
    for (const server of [...servers, redis]) await server?.stop()
  })

  it('lose one server, and a lease with both URLs makes ids all the time', async () => {
    const [first, second] = [await startBefore('--assume-durable'), await startBefore('--assume-durable')]
    const store = serviceStore({ url: [urlOf(first), urlOf(second)] })
    const lease = await acquireLease({ store, namespace: freshNamespace(), windowMs: 6000 })
    const ids = createGenerator({ lease })
    const made = ids.take(10)
    await first.signal('SIGKILL')
    const { renewals } = lease.stats()
    await until(() => {
      made.push(ids.next())
      return lease.stats().renewals >= renewals + 3
    })
    expect(isAscending(made)).toBe(true)
    expect(lease.stats().acquisitions).toBe(1)
    await lease.release()
  })

  it('hand on that Redis may forget: the first lease waits until a new server is trusted', async () => {
    // It waits for eleven seconds itself.
    const server = await startBefore('--acquire-timeout-ms', '60000')
    const store = serviceStore({ url: urlOf(server), durable: false })
    const lease = await acquireLease({ store, namespace: freshNamespace() })
    const before = await store.incarnation?.()
    await redis.restart('SIGKILL')
    const after = await eventually(() => store.incarnation?.())
    expect(after).not.toBe(before)
    await lease.release()
  })
})
