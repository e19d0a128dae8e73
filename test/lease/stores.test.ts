import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import { describe, expect, it, vi } from 'vitest'
import { proveLeases } from './suite.js'

describe('leases on the memory of a thread', () => {
  const store = memoryStore()
  proveLeases(() => store)

  it('do not depend on a Date that a test has replaced', async () => {
    vi.setSystemTime(0)
    try {
      await using lease = await acquireLease({ store: memoryStore() })
      expect(lease.stats().ceilingMs).toBeGreaterThan(Date.UTC(2025, 0, 1))
    } finally {
      vi.useRealTimers()
    }
  })
})
