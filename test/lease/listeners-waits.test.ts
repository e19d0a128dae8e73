import { expect, it, vi } from 'vitest'
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
