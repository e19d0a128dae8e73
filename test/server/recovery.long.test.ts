import { expect, test } from 'vitest'
import { host } from '../stores/kinds/kind.ts'
import { startRedis } from '../stores/kinds/redis.ts'
import { describeWith } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { ask } from './support/clients.ts'
import { serve } from './support/process.ts'

// Measures recovery times that docs/service-operations.md has. They are printed; only those that keep ids
// distinct have a bound, because the others depend on the load of the machine.

/** Resolves to the seconds after which a path has another status than before. */
async function secondsUntil(url: string, path: string, status: number, startMs: number): Promise<number> {
  await until(async () => (await ask(`${url}${path}`)).status === status)
  return (performance.now() - startMs) / 1000
}

describeWith(['redis'], 'after a restart of Redis within a moment', () => {
  test('that has its records, ids go on, and a process that starts is ready after 11 s', async () => {
    const redis = await startRedis()
    try {
      const store = ['--store', `redis://${host}:${redis.port}`]
      // The longest window on a store that may forget, because renewals are late on a busy machine.
      const { url } = await serve([...store, '--window-ms', '10000'])
      await redis.restart('SIGKILL')
      const restartMs = performance.now()
      const statuses = new Set<number>()
      const started = serve(store)
      let isOver = false
      const watch = (async () => {
        while (!isOver) for (const path of ['/readyz', '/v1/ids']) statuses.add((await ask(`${url}${path}`)).status)
      })()
      await started
      const ready = (performance.now() - restartMs) / 1000
      isOver = true
      await watch
      expect([...statuses]).toEqual([200])
      console.info('seconds until a process that starts is ready', ready)
      expect(ready).toBeGreaterThan(10)
    } finally {
      await redis.stop()
    }
  })

  test('that has lost its records, ids pause from the end of the window to 11 s after the restart', async () => {
    const redis = await startRedis('--appendonly', 'no')
    try {
      const { url } = await serve(['--store', `redis://${host}:${redis.port}`])
      await redis.restart('SIGKILL')
      const restartMs = performance.now()
      const times = {
        unready: await secondsUntil(url, '/readyz', 503, restartMs),
        refused: await secondsUntil(url, '/v1/ids', 503, restartMs),
        served: await secondsUntil(url, '/v1/ids', 200, restartMs),
        ready: await secondsUntil(url, '/readyz', 200, restartMs),
      }
      console.info('seconds after the restart', times)
      expect(times.unready).toBeGreaterThan(1.5)
      expect(times.served).toBeGreaterThan(10)
    } finally {
      await redis.stop()
    }
  })
})
