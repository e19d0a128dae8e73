import { join } from 'node:path'
import { expect, it } from 'vitest'
import { run, serve } from '../server/support/process.ts'
import { until } from '../support/until.ts'
import { folderWith, isRefused, order, orders, start } from './app.ts'

it('client.mjs uses ids of the service, answers 503 while the service is unreachable, and recovers by itself', async () => {
  const folder = folderWith('client.mjs')
  const data = join(folder, 'service')
  const first = await serve(['--data', data])
  const app = await start(folder, 'client.mjs', { SERVICE_URL: first.url })
  const lists = await Promise.all(Array.from({ length: 8 }, () => orders(app, 25)))
  expect(new Set(lists.flat()).size).toBe(200)

  first.child.kill('SIGKILL')
  await first.ended
  await isRefused(app, 'ERR_SERVICE_UNAVAILABLE')
  run(['--data', data, '--port', new URL(first.url).port])
  await until(async () => (await order(app, 'tea')).status === 201)
  app.child.kill('SIGTERM')
  expect(await app.ended).toBe(0)
})
