import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createGenerator } from '../../src/index.js'
import { acquireLease } from '../../src/lease/index.js'
import { serviceStore } from '../../src/stores/service.js'
import { folder, serve } from '../server/support/process.ts'
import { freshNamespace } from '../support/engines.js'

// A service that lends its store, as a process with its embedded database.

const dataFolder = () => mkdtempSync(join(folder, 'data-'))

describe.each([[['--workers', '2']], [['--strict']]])('a graupel-server --leases %j', (flags) => {
  it('lends the nodes of one store', async () => {
    const { url, child, ended } = await serve(['--data', dataFolder(), '--leases', ...flags])
    const namespace = freshNamespace()
    // A connection belongs to one worker, so each lease may be of another worker.
    const store = () => serviceStore({ url, fetch: (at, init) => fetch(at, { ...init, headers: closing(init) }) })
    const leases = await Promise.all(Array.from({ length: 8 }, () => acquireLease({ store: store(), namespace })))
    expect(new Set(leases.map(({ node }) => node)).size).toBe(8)
    expect(createGenerator({ lease: leases[0] as (typeof leases)[number] }).next()).toBeGreaterThan(0n)
    await Promise.all(leases.map((lease) => lease.release()))
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})

const closing = (init: object | undefined) => ({ ...(init as { headers?: object })?.headers, connection: 'close' })

it('a write under way at SIGTERM is answered or lost, and none that was acknowledged is lost', async () => {
  const flags = ['--data', dataFolder(), '--leases', '--drain-ms', '300']
  const first = await serve(flags)
  const store = serviceStore({ url: first.url })
  let [count, acknowledged]: [number, number] = [0, 0]
  let version: string | undefined
  let failure: unknown
  const write = async () => {
    while (failure === undefined) {
      count++
      try {
        const next = await store.write('leases/g/0/1', `${count}`, version)
        // undefined would say that another writer was there.
        expect(next).toBeDefined()
        version = next
        acknowledged = count
        if (count === 20) first.child.kill('SIGTERM')
      } catch (error) {
        failure = error
      }
    }
  }
  await write()
  expect(`${failure}`).toMatch(/cannot be reached|gave no answer|closed/)
  expect(await first.ended).toBe(0)
  expect(acknowledged).toBeGreaterThan(20)
  const second = await serve(flags)
  const found = await serviceStore({ url: second.url }).read('leases/g/0/1')
  expect([acknowledged, count]).toContain(Number(found?.value))
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)
})
