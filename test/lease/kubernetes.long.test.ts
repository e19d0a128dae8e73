import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Open } from '../stores/kinds/kind.ts'
import { kubernetes } from '../stores/kinds/kubernetes.ts'
import type { Server } from '../stores/servers.ts'
import { duplicatesAmong, isAscending } from '../support/ids.js'
import { until } from '../support/until.js'

// A lease while an API server is stopped for longer than its window.

let server: Server
beforeAll(async () => {
  server = await kubernetes.start()
})
afterAll(() => server?.stop())

it('makes no ids above its ceiling while Kubernetes is stopped, and goes on with others afterwards', async () => {
  const { store } = await (kubernetes.clients['fetch'] as Open)(server.port)
  await using lease = await acquireLease({ store, windowMs: 1000 })
  const ids = createGenerator({ lease })
  /** Makes an id; `undefined` at the ceiling, which a busy machine may reach at any time. */
  const make = () => {
    try {
      return BigUint64Array.from(ids.take(100))
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
      return undefined
    }
  }
  const made: BigUint64Array[] = []
  const isMade = () => made.push(...[make()].filter((some) => some !== undefined)) > 0
  await until(isMade)
  await server.signal('SIGSTOP')
  await until(() => make() === undefined)
  await until(() => Date.now() > lease.stats().ceilingMs + 500)
  expect(make()).toBeUndefined()
  await server.signal('SIGCONT')
  const [before] = made.splice(0) as [BigUint64Array]
  await until(isMade)
  const [after] = made as [BigUint64Array]
  expect(duplicatesAmong([before, after])).toBe(0)
  expect(isAscending(BigUint64Array.from([...before, ...after]))).toBe(true)
  expect(lease.signal.aborted).toBe(false)
})
