import { decode, layouts } from 'graupel'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serverKinds } from '../stores/kinds/index.ts'
import { database } from '../stores/kinds/mysql.ts'
import type { Server } from '../stores/servers.ts'
import { describeWith } from '../support/needs.ts'
import { serve } from './support/process.ts'

// Each store of --store, by the client that the service installs.

// A server of the tests forgets nothing while it runs. Without this flag, a group waits for eleven seconds at
// its first start.
const durable = ['--assume-durable']
const stores: Readonly<Record<string, { url: (port: number) => string; flags: string[] }>> = {
  redis: { url: (port) => `redis://127.0.0.1:${port}`, flags: durable },
  postgres: { url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`, flags: durable },
  mysql: { url: (port) => `mysql://root@127.0.0.1:${port}/${database}`, flags: durable },
  etcd: { url: (port) => `etcd://127.0.0.1:${port}`, flags: [] },
  zookeeper: { url: (port) => `zookeeper://127.0.0.1:${port}`, flags: [] },
  consul: { url: (port) => `consul://127.0.0.1:${port}`, flags: [] },
  service: { url: (port) => `graupel+http://127.0.0.1:${port}`, flags: [] },
  kubernetes: { url: (port) => `kubernetes+http://127.0.0.1:${port}/default`, flags: [] },
}

/** The kinds whose clients the service does not bring. */
const withoutClient = ['azure', 'dynamodb', 'google', 'mongodb', 's3']
const kinds = Object.entries(serverKinds).filter(([name]) => !withoutClient.includes(name))

test('every kind of store has a test', () => {
  expect(Object.keys(stores).sort()).toEqual(kinds.map(([name]) => name).sort())
})

/** The servers, which start at once because some take seconds. */
const starting = new Map<string, Promise<Server>>()
beforeAll(() => {
  for (const [name, kind] of kinds) {
    if (kind.missing() === undefined && kind.isElsewhere === undefined) starting.set(name, kind.start())
  }
})
afterAll(async () => {
  const servers = await Promise.allSettled(starting.values())
  await Promise.all(servers.map((one) => one.status === 'fulfilled' && one.value.stop()))
})

for (const [name, kind] of kinds) {
  describeWith([kind.missing, () => (kind.isElsewhere ? 'server of its own' : undefined)], kind.name, () => {
    test('gives a node, numbers and counts, and gets the node back when the service ends', async () => {
      const { url: urlOf, flags } = stores[name] as (typeof stores)[string]
      const store = urlOf(((await starting.get(name)) as Server).port)
      const words = ['--store', store, ...flags, '--nodes', '7-7', '--acquire-timeout-ms', '0', '--drain-ms', '0']
      for (const round of [0, 1]) {
        const { url, stdout, child, ended } = await serve(words)
        expect(stdout()).toContain(
          `, node 7 (twitter), ${store.replace('//root@', '//***@').replace('//postgres@', '//***@')}\n`,
        )
        const { ids } = (await (await fetch(`${url}/v1/ids?count=100`)).json()) as { ids: string[] }
        expect(new Set(ids).size).toBe(100)
        expect(new Set(ids.map((id) => decode(id, layouts.twitter).node))).toEqual(new Set([7]))
        const { counts } = (await (await fetch(`${url}/v1/counters/invoices`)).json()) as { counts: string[] }
        expect(counts).toEqual([`${round + 1}`])
        const { numbers } = (await (await fetch(`${url}/v1/segments/orders`)).json()) as { numbers: string[] }
        expect(numbers).toHaveLength(1)
        child.kill('SIGTERM')
        expect(await ended).toBe(0)
      }
    })
  })
}
