import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGenerator, GraupelError } from '../../src/index.js'
import { acquireLease } from '../../src/lease/index.js'
import { type EtcdStoreOptions, etcdStore } from '../../src/stores/etcd.js'
import { freshNamespace } from '../support/engines.js'
import { duplicatesAmong, isAscending } from '../support/ids.js'
import { describeWith } from '../support/needs.ts'
import { eventually, until } from '../support/until.js'
import { etcdctl, etcdLeader, startEtcdCluster } from './kinds/etcd.ts'
import { callsOf } from './real-time.ts'
import type { Server } from './servers.ts'

// A cluster of three members; one member is killed or stopped.

const windowMs = 3000

describeWith(['etcd'], 'etcd of three', () => {
  let members: Server[]
  beforeAll(async () => {
    members = await startEtcdCluster()
  })
  afterAll(() => Promise.all((members ?? []).map((member) => member.stop())))

  /** A store that asks the member `first` first. */
  function opened(first: number, fetch?: EtcdStoreOptions['fetch']) {
    const urls = members.map(({ port }) => `http://127.0.0.1:${port}`)
    return etcdStore({ url: [...urls.slice(first), ...urls.slice(0, first)], ...(fetch && { fetch }) })
  }

  it('goes on when its leader is killed: no id comes twice, and each lease goes on', async () => {
    const namespace = freshNamespace()
    const options = { namespace, windowMs }
    const leases = await Promise.all(
      Array.from({ length: 6 }, (_, i) => acquireLease({ store: opened(i % 3), ...options })),
    )
    const makers = leases.map((lease) => ({ lease, ids: createGenerator({ lease }), made: [] as bigint[] }))
    let isOver = false
    const making = (async () => {
      while (!isOver) {
        for (const { ids, made } of makers) {
          try {
            made.push(...ids.take(10))
          } catch (error) {
            // On a busy machine, the election of another leader may take longer than a window.
            if (!(error instanceof GraupelError && error.code === 'ERR_LEASE_EXPIRED')) throw error
          }
        }
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    })()
    /** Waits until each lease was renewed or acquired again, and has made more ids. */
    const allGoOn = async () => {
      const seen = makers.map(({ lease, made }) => ({ ceilingMs: lease.stats().ceilingMs, count: made.length }))
      await until(() =>
        makers.every(({ lease, made }, i) => {
          const before = seen[i] as (typeof seen)[number]
          return lease.stats().ceilingMs > before.ceilingMs + windowMs && made.length > before.count
        }),
      )
    }

    try {
      const killed = etcdLeader(members)
      await killed.signal('SIGKILL')
      await allGoOn()
      await killed.restart()
      await eventually(() => etcdctl(killed.port, 'endpoint', 'health'))
      // Without the restarted member there would be no majority now.
      await (members.find((member) => member !== killed) as Server).restart('SIGKILL')
      await allGoOn()
    } finally {
      isOver = true
      await making
    }
    expect(duplicatesAmong(makers.map(({ made }) => BigUint64Array.from(made)))).toBe(0)
    for (const { made } of makers) expect(isAscending(made)).toBe(true)
    expect(makers.every(({ lease }) => !lease.signal.aborted)).toBe(true)
    await Promise.all(leases.map((lease) => lease.release()))
  })

  it('shows its tokens to all of its members', async () => {
    const [first, second] = members as [Server, Server]
    const asRoot = ['--user', 'root:hush']
    etcdctl(first.port, 'user', 'add', 'root:hush')
    etcdctl(first.port, 'user', 'grant-role', 'root', 'root')
    etcdctl(first.port, 'auth', 'enable')
    try {
      const urls = [first, second].map(({ port }) => `http://127.0.0.1:${port}`)
      let authenticated = 0
      const store = etcdStore({
        url: urls,
        user: 'root',
        password: 'hush',
        fetch(url, init) {
          if (url.endsWith('authenticate')) authenticated++
          return fetch(url, init)
        },
      })
      const version = await eventually(() => store.write('tokens/1', 'x', undefined))
      await first.signal('SIGSTOP')
      try {
        const calls = callsOf(store, 500)
        // The first call may be lost, because it goes to the stopped member.
        expect((await eventually(() => calls.read('tokens/1')))?.version).toBe(version)
        expect(authenticated).toBe(1)
      } finally {
        await first.signal('SIGCONT')
      }
    } finally {
      await eventually(() => etcdctl(second.port, ...asRoot, 'auth', 'disable'))
    }
  })

  describe('with one member stopped', () => {
    it('costs a store one call, whichever member is stopped', async () => {
      const stores = [0, 1, 2].map((first) => {
        let asked = ''
        const store = opened(first, (url, init) => {
          asked = url
          return fetch(url, init)
        })
        return { store, memberAsked: () => members.find(({ port }) => asked.includes(`:${port}/`)) }
      })
      for (const { store } of stores) await eventually(() => store.read('stopped/1'))
      // A store that found its first member busy now asks the next member.
      const stopped = stores[0]?.memberAsked() as Server
      await stopped.signal('SIGSTOP')
      try {
        for (const [i, { store, memberAsked }] of stores.entries()) {
          const calls = callsOf(store, 1000)
          if (memberAsked() === stopped) {
            await expect(calls.read('stopped/1')).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
          }
          // If the stopped member was the leader, the others have to elect a new leader.
          await eventually(() => calls.read('stopped/1'))
          expect(await calls.write(`stopped/${i}`, 'x', undefined, 30_000)).toMatchObject({
            landed: true,
          })
        }
      } finally {
        await stopped.signal('SIGCONT')
      }
    })
  })
})
