import { describe, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { acquireLease } from '../../src/lease/lease.js'
import { memoryStore } from '../../src/stores/memory-store.js'
import { freshNamespace } from '../support/engines.ts'
import { virtualPlatform } from './virtual-platform.ts'

const time = virtualPlatform()

it('a wait that a listener hears is not warned of', async () => {
  const warn = vi.spyOn(platform, 'warn').mockImplementation(() => {})
  let life = 1
  const store = {
    ...memoryStore(),
    durable: false,
    incarnation: async () => `life ${life}`,
    nowMs: async () => platform.wallMs(),
  }
  const lease = await time.until(acquireLease({ store, namespace: freshNamespace() }))
  expect(warn).toHaveBeenCalledTimes(1)
  const heard: unknown[] = []
  const end = lease.on('waiting', ({ untilMs }) => heard.push(untilMs))
  life++
  await time.until(lease.resume())
  expect([heard.length > 0, warn.mock.calls.length]).toEqual([true, 1])
  end()
  life++
  await time.until(lease.resume())
  expect(warn).toHaveBeenCalledTimes(2)
  await time.until(lease.release())
})

describe('a clock that steps back by an hour after it was compared with the store', () => {
  /** Leases a node, and lets the clock step as soon as the record is written. */
  async function leaseWith(stepMs: number) {
    let aheadMs = 0
    vi.spyOn(platform, 'wallMs').mockImplementation(() => Date.UTC(2026, 0) + time.monotonicMs() + aheadMs)
    const inner = memoryStore({ assumeOneProcess: true })
    const write: typeof inner.write = async (...words) => {
      const version = await inner.write(...words)
      if (words[0].startsWith('leases/') && aheadMs === 0 && version !== undefined) {
        aheadMs = -3_600_000
        time.later(() => (aheadMs = 0), stepMs)
      }
      return version
    }
    const store = { ...inner, write, nowMs: async () => Date.UTC(2026, 0) + time.monotonicMs() }
    const startMs = time.monotonicMs()
    const lease = await time.until(acquireLease({ store, namespace: freshNamespace(), windowMs: 6000 }))
    const tookMs = time.monotonicMs() - startMs
    await time.until(lease.release())
    return tookMs
  }

  it('delays a lease until the clock is right again, and not for an hour', async () => {
    expect(await leaseWith(2000)).toBeLessThan(4000)
  })

  it('is refused after a window if it stays wrong', async () => {
    const startMs = time.monotonicMs()
    await expect(leaseWith(1e9)).rejects.toMatchObject({ code: 'ERR_CLOCK_SKEW' })
    expect(time.monotonicMs() - startMs).toBeLessThan(8000)
  })
})
