import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createGenerator, type EngineKind } from 'graupel'
import type { LeaseHandle } from 'graupel/lease'
import { describe, expect, it } from 'vitest'
import { caught, engines } from '../support/engines.js'
import { duplicatesAmong, isAscending } from '../support/ids.js'
import { until } from '../support/until.js'
import { startLeasedWorker } from './leased-worker.js'
import { leaseWith, steal } from './leases.js'

interface Answer {
  readonly made: bigint[]
  readonly node: number
  readonly code?: string
  readonly message?: string
}

const program = new URL('./programs/leased-worker.js', import.meta.url)
const startWorker = (handle: LeaseHandle, engine: EngineKind) =>
  startLeasedWorker<'one' | 'many' | 'wait', Answer>(program, handle, engine)

describe.each(engines)('threads that have the handle of a lease, on the %s engine', (engine) => {
  it('share its node, see its ceiling rise, and follow when it moves', async () => {
    const world = await leaseWith({ windowMs: 4500 })
    const { lease } = world
    const threads = [await startWorker(lease.handle, engine), await startWorker(lease.handle, engine)]
    const ids = createGenerator({ lease, engine })
    const made: bigint[][] = [[], [], []]
    const first = lease.node
    const round = async () => {
      made[0]?.push(...ids.take(3000))
      const answers = await Promise.all(threads.map(({ ask }) => ask('many')))
      answers.forEach(({ made: some, message }, i) => {
        expect(message).toBeUndefined()
        made[i + 1]?.push(...some)
      })
      return answers
    }
    await until(async () => {
      await round()
      return lease.stats().renewals >= 3
    })
    await steal(world.inner, world.namespace, lease.node)
    await until(() => lease.node !== first)
    expect((await round()).map(({ node }) => node)).toEqual([1 - first, 1 - first])
    const arrays = made.map((some) => BigUint64Array.from(some))
    expect(arrays.map(isAscending)).toEqual([true, true, true])
    expect(duplicatesAmong(arrays)).toBe(0)
    await lease.release()
  })

  it('stop when it is released, and wait while its store is away', async () => {
    const { lease, outage } = await leaseWith({ windowMs: 400 })
    const { ask } = await startWorker(lease.handle, engine)
    await until(async () => (await ask('wait')).made.length === 1)
    outage.error = new Error('connection refused')
    await until(() => lease.stats().failures > 0 && Date.now() > lease.stats().ceilingMs + 5)
    expect(await ask('one')).toMatchObject({
      code: 'ERR_LEASE_EXPIRED',
      message: expect.stringMatching(/\(ERR_STORE_UNAVAILABLE\)/),
    })
    delete outage.error
    await until(async () => (await ask('wait')).made.length === 1)
    await lease.release()
    expect(await ask('one')).toMatchObject({ code: 'ERR_CLOSED', message: expect.stringMatching(/released/) })
  })

  it('never use a node again that was given back, whatever they do at that moment', async () => {
    const { lease, inner, namespace } = await leaseWith({ node: { worker: 0 } })
    const threads = [await startWorker(lease.handle, engine), await startWorker(lease.handle, engine)]
    const made: bigint[][] = [[], []]
    const answers = threads.map(async ({ ask }, i) => {
      for (;;) {
        const answer = await ask('many')
        made[i]?.push(...answer.made)
        if (answer.code !== undefined) return BigUint64Array.from(made[i] ?? [])
      }
    })
    // Any moment will do at which both threads make ids.
    await until(() => made.every(({ length }) => length > 10_000))
    await lease.release()
    const next = await leaseWith({ store: inner, namespace, node: { worker: 0 }, acquireTimeoutMs: 0 })
    const after = BigUint64Array.from(createGenerator({ lease: next.lease, engine }).take(3000))
    const before = await Promise.all(answers)
    expect(duplicatesAmong([...before, after])).toBe(0)
    for (const some of before) expect((some.at(-1) ?? 0n) < (after[0] as bigint)).toBe(true)
    await next.lease.release()
  })
})

describe.skipIf(engines.length === 1)(
  'a thread whose environment asks for another engine than that of the lease',
  () => {
    const program = fileURLToPath(new URL('./programs/other-engine.js', import.meta.url))
    it.each([
      ['js', 'native', ['native', 'auto'], 'ERR_STATE_UNREACHABLE ERR_STATE_UNREACHABLE'],
      ['native', 'js', ['auto'], 'js stopped'],
      ['native', 'js', ['native'], 'native stopped'],
    ])('is refused or stopped: lease %s, thread %s, option %s', async (engine, other, options, expected) => {
      const env = { ...process.env, GRAUPEL_ENGINE: engine }
      const { stdout } = await promisify(execFile)(process.execPath, [program, other, ...options], { env })
      expect(stdout.trim()).toBe(expected)
    })
  },
)

describe.each(engines)(
  'the %s engine while the thread of the lease is suspended in the middle of a write',
  (engine) => {
    it('refuses a generator with ERR_LEASE_EXPIRED, and makes it afterwards', async () => {
      const { lease } = await leaseWith({ windowMs: 10_000 })
      const { handle } = lease
      const ids = createGenerator({ lease: handle, engine })
      const { memory } = handle as unknown as { memory: SharedArrayBuffer }
      // The sequence number, which is odd during a write.
      const words = new BigInt64Array(memory)
      Atomics.add(words, 0, 1n)
      const expected = { code: 'ERR_LEASE_EXPIRED', message: expect.stringContaining('in the middle of a write') }
      expect(caught(() => createGenerator({ lease: handle, engine }))).toMatchObject(expected)
      Atomics.add(words, 0, 1n)
      const first = ids.next()
      expect(createGenerator({ lease: handle, engine }).next()).toBeGreaterThan(first)
      await lease.release()
    })
  },
)
