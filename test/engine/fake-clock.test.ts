import { createGenerator, decode, layouts } from 'graupel'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'

// Test runners replace Date and the timers. The package was loaded before, and uses the clock and the timers
// of the system.

const { now: realNow } = Date

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe.each(engines)('with a faked clock, on the %s engine', (engine) => {
  const options = () => ({ engine, node: 1, namespace: freshNamespace() })
  const timeOf = (id: bigint) => decode(id, layouts.twitter).timestampMs

  it.each([
    ['1970', 0],
    ['2040', Date.UTC(2040, 0, 1)],
    ['2100', Date.UTC(2100, 0, 1)],
  ])('of %s, ids have the time of the system, and so have those that follow', (_, fakeMs) => {
    const own = options()
    vi.useFakeTimers({ now: fakeMs })
    using faked = createGenerator({ ...own, onRollback: () => 'advance' })
    expect(Math.abs(timeOf(faked.next()) - realNow())).toBeLessThan(60_000)
    expect(faked.stats().aheadMs).toBeLessThan(1000)
    vi.useRealTimers()
    using real = createGenerator({ ...own, onRollback: 'throw' })
    expect(Math.abs(timeOf(real.next()) - realNow())).toBeLessThan(60_000)
  })

  it('ids have the time of the system in spite of a mock of Date.now', () => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(2040, 0, 1))
    for (const clock of ['wall', 'steady'] as const) {
      using ids = createGenerator({ ...options(), clock })
      expect(Math.abs(timeOf(ids.next()) - realNow())).toBeLessThan(60_000)
    }
  })

  it('waiting calls end although the timers of the test stand still', async () => {
    vi.useFakeTimers()
    using ids = createGenerator({ ...options(), layout: layouts.twitter })
    const array = await ids.fillAsync(new BigUint64Array(20_000))
    expect(new Set(array).size).toBe(20_000)
    const more = await Promise.all(Array.from({ length: 5000 }, () => ids.nextAsync()))
    expect(new Set(more).size).toBe(5000)
  })

  it('the faked clock may be passed as the clock of a generator', () => {
    vi.useFakeTimers({ now: Date.UTC(2040, 0, 1) })
    using ids = createGenerator({ ...options(), clock: () => Date.now() })
    expect(timeOf(ids.next())).toBe(Date.UTC(2040, 0, 1))
  })
})
