import { connect, type IdClient } from 'graupel/client'
import { expect, test } from 'vitest'
import { serve } from '../server/support/process.ts'
import { duplicatesAmong, total } from '../support/ids.ts'
import { until } from '../support/until.ts'

test('clients go on when a server is killed under load, and no two ids are equal', async () => {
  // Both servers use the embedded database of this test's folder, each with its own node.
  const servers = [await serve(), await serve()] as const
  const urls = servers.map(({ url }) => url)
  const options = { urls, count: 50, callTimeoutMs: 5000, retries: 20, maxWaitMs: 60_000 }
  const clients: IdClient[] = []
  const isUsed = (url: string) =>
    clients.some((ids) => ids.stats().servers.some((server) => server.url === url && server.requests > 0))
  // Each client begins with a random server.
  while (clients.length < 6 || !urls.every(isUsed)) clients.push(await connect(options))
  const made: BigUint64Array[] = []
  let isOver = false
  const loads = clients.map(async (ids) => {
    while (!isOver) {
      made.push(await ids.fillAsync(new BigUint64Array(200)))
      await new Promise(setImmediate)
    }
  })
  const served = () => total(made)
  await until(() => served() > 20_000)
  servers[0].child.kill('SIGKILL')
  await servers[0].ended
  const before = served()
  await until(() => served() > before + 50_000)
  isOver = true
  await Promise.all(loads)
  expect(duplicatesAmong(made)).toBe(0)
  const nodes = new Set(made.flatMap((array) => [...array].map((id) => clients[0]?.decode(id).node)))
  expect(nodes.size).toBe(2)
  for (const ids of clients) ids.close()
})
