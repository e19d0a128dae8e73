import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { kubernetesStore } from 'graupel/stores/kubernetes'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi } from '../stores/kinds/kubernetes.ts'
import type { Server } from '../stores/servers.ts'
import { duplicatesAmong, isAscending } from '../support/ids.js'
import { until } from '../support/until.js'

// A lease while an API server is stopped for longer than its window.

let server: Server
beforeAll(async () => {
  server = await startApi()
})
afterAll(() => server?.stop())

it('makes no ids above its ceiling, and goes on with others when the server does', async () => {
  const store = kubernetesStore({ url: `http://127.0.0.1:${server.port}`, namespace: 'default' })
  await using lease = await acquireLease({ store, windowMs: 500, callTimeoutMs: 300 })
  const ids = createGenerator({ lease })
  const before = BigUint64Array.from(ids.take(100))
  await server.signal('SIGSTOP')
  const refused = () => {
    try {
      ids.next()
      return false
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
      return true
    }
  }
  await until(refused)
  const { ceilingMs } = lease.stats()
  await until(() => Date.now() > ceilingMs + 500)
  expect(refused()).toBe(true)
  await server.signal('SIGCONT')
  await until(() => !refused())
  const after = BigUint64Array.from(ids.take(100))
  expect(duplicatesAmong([before, after])).toBe(0)
  expect(isAscending(BigUint64Array.from([...before, ...after]))).toBe(true)
  expect(lease.signal.aborted).toBe(false)
})
