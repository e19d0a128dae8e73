import { connect } from 'graupel/client'
import { acquireLease } from 'graupel/lease'
import { createSegmentGenerator } from 'graupel/segments'
import { memoryStore, type Store } from 'graupel/stores'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

// Leases, segments and clients use the timers of the system while the timers of a test stand still, as
// docs/testing.md says.

const { setTimeout: realTimeout } = globalThis

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

const never = () => new Promise<never>(() => {})

it('a lease is renewed', async () => {
  const lease = await acquireLease({ store: memoryStore(), windowMs: 300 })
  for (let turns = 0; lease.stats().renewals < 2 && turns < 2000; turns++) {
    await new Promise((resolve) => realTimeout(resolve, 5))
  }
  expect(lease.stats().renewals).toBeGreaterThanOrEqual(2)
  await lease.release()
})

it('the deadline of a store’s call comes', async () => {
  const store: Store = { ...memoryStore(), read: never }
  const call = createSegmentGenerator({ store, name: 'orders', callTimeoutMs: 20 })
  await expect(call).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
})

it('the deadline of a client’s request comes', async () => {
  const call = connect({ url: 'http://ids.test', fetch: never, callTimeoutMs: 20, retries: 0 })
  await expect(call).rejects.toMatchObject({ code: 'ERR_SERVICE_UNAVAILABLE' })
})
