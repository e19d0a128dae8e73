import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { createGenerator, decode, layouts } from '../../src/index.js'
import { Group } from '../../src/lease/group.js'
import { acquireLease } from '../../src/lease/index.js'
import { writeLease } from '../../src/lease/record.js'
import { memoryStore } from '../../src/stores/memory.js'
import { serviceStore } from '../../src/stores/service.js'
import type { Store } from '../../src/stores/store.js'
import { type Started, startService } from '../server/support/in-process.ts'
import { repository } from '../support/documents.ts'
import { freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { describeWith } from '../support/needs.ts'

const program = join(repository, 'examples/lease.py')

/** Runs the program, and returns its ids. */
async function idsOf(url: string, namespace: string, count: number, variables: Record<string, string> = {}) {
  const env = { ...process.env, GRAUPEL_URL: url, NAMESPACE: namespace, ...variables }
  const child = spawn('python3', [program, `${count}`], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [said, told, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, told, ids: said.split('\n').slice(0, -1).map(BigInt) }
}

describeWith(['python'], 'lease.py', () => {
  let service: Started
  beforeAll(async () => {
    service = await startService({ leases: true })
  })

  it('makes ids beside processes of the library, on nodes of its own, through several renewals', async () => {
    // The character above U+FFFF is one `_` in the name of the group.
    const namespace = `🍊 ${freshNamespace()}`
    const store = serviceStore({ url: service.url })
    // Long time limits, because a busy machine may stop this process for seconds.
    await using first = await acquireLease({ store, namespace, windowMs: 30_000, callTimeoutMs: 10_000 })
    const ids = createGenerator({ lease: first })
    const running = [0, 1, 2].map(() => idsOf(service.url, namespace, 60, { WINDOW_MS: '3000', PAUSE: '0.05' }))
    const own: bigint[] = []
    const all = Promise.all(running)
    let isOver = false
    all.finally(() => {
      isOver = true
    })
    while (!isOver) {
      own.push(...ids.take(20))
      await sleep(10)
    }
    const found = await all
    expect(found.map(({ code, told }) => `${code} ${told}`)).toEqual(['0 ', '0 ', '0 '])
    // Beside the group of the service.
    expect(await store.list('groups/')).toHaveLength(2)
    const made = [own, ...found.map(({ ids }) => ids)]
    for (const one of made) expect(isAscending(one)).toBe(true)
    expect(new Set(made.flat()).size).toBe(own.length + 180)
    // Only the last node of each, because a lease of a busy process may lapse.
    expect(new Set(made.map((one) => decode(one.at(-1) as bigint, layouts.twitter).node)).size).toBe(4)
  })

  it('releases its node, whose next holder in the library begins above its last id', async () => {
    const namespace = freshNamespace()
    // More ids than the ticks have room for, so they are ahead of the clock.
    const { ids, told } = await idsOf(service.url, namespace, 50_000)
    expect(told).toBe('')
    expect(new Set(ids).size).toBe(50_000)
    const last = ids.at(-1) as bigint
    await using lease = await acquireLease({
      store: serviceStore({ url: service.url }),
      namespace,
      node: decode(last, layouts.twitter).node,
    })
    expect(createGenerator({ lease, maxWaitMs: 10_000 }).next()).toBeGreaterThan(last)
  })

  it('takes the node of the library when it was released, above its last id', async () => {
    const namespace = freshNamespace()
    const lease = await acquireLease({ store: serviceStore({ url: service.url }), namespace })
    const last = createGenerator({ lease }).next()
    await lease.release()
    const { ids } = await idsOf(service.url, namespace, 1)
    expect(ids[0]).toBeGreaterThan(last)
    expect(decode(ids[0] as bigint, layouts.twitter).node).toBe(lease.node)
  })

  it('begins at the ceiling of a released node that is ahead of the clock', async () => {
    const nowMs = Date.now() + 3_600_000
    const around = (inner: Store): Store => ({ ...inner, nowMs: async () => nowMs })
    const { url } = await startService({ leases: true }, { around, isOpen: false })
    // A character above U+FFFF is one `_` in the name of the group, in both languages.
    const namespace = 'ahead 🚀'
    const group = Group.of(layouts.twitter, namespace, { count: 1024, at: Number, has: () => true })
    const [ceiling, windowMs] = [group.tickAt(nowMs + 900), 6000]
    const texts = { owner: 'test', token: 'one', attempt: 'two' }
    const value = writeLease(group, { ...texts, floor: ceiling, ceiling, isReleased: true, windowMs })
    await serviceStore({ url }).write(group.keyOf(7), value, undefined)
    const { ids } = await idsOf(url, namespace, 1)
    expect(decode(ids[0] as bigint, layouts.twitter)).toMatchObject({ node: 7, timestampMs: nowMs + 900 })
  })

  it('refuses a store that may forget', async () => {
    const store = { ...memoryStore({ assumeOneProcess: true }), durable: false, incarnation: async () => 'one' }
    const { url } = await startService({ leases: true }, { store, isOpen: false })
    expect(await idsOf(url, freshNamespace(), 1)).toMatchObject({
      code: 1,
      told: expect.stringContaining('the store may forget'),
    })
  })
})
