import { describe, expect, test } from 'vitest'
import { connectBy } from '../../src/client/client.js'
import { createGenerator } from '../../src/index.js'
import { randomFrom } from '../support/random.ts'
import { writeSingles } from '../support/runs.ts'
import { VirtualTime } from '../support/virtual-time.ts'

/**
 * A service and a client on a clock of the test. Each answer takes 20 milliseconds unless the test sets
 * another time.
 */
function world() {
  const time = new VirtualTime()
  const ids = createGenerator({ node: 1, namespace: `client ${Math.random()}` })
  const state = { wallMs: 0, takesMs: 20, asked: [] as number[], status: 200 }
  const fetch = async (url: string): Promise<Response> => {
    const count = Number(new URL(url).searchParams.get('count'))
    state.asked.push(time.monotonicMs())
    await time.sleep(state.takesMs)
    const headers = {
      'content-type': 'application/vnd.graupel.runs',
      'graupel-byte-order': 'little-endian',
      'graupel-layout': 'twitter',
    }
    if (state.status !== 200) return new Response('broken', { status: state.status })
    return new Response(writeSingles(ids.fill(new BigUint64Array(count))), { headers })
  }
  const clocks = {
    monotonicMs: () => time.monotonicMs(),
    wallMs: () => time.monotonicMs() + state.wallMs,
    later: (callback: () => void, ms: number) => time.later(callback, ms),
    background: (callback: () => void, ms: number) => time.later(callback, ms),
    random: randomFrom(1),
  }
  const connect = (options: object = {}) =>
    time.until(connectBy({ url: 'http://service', fetch: fetch as never, ...options }, clocks))
  return { time, state, connect }
}

describe('ids that were fetched too long ago', () => {
  test('are dropped while none is used, and no request is made then', async () => {
    const { time, state, connect } = world()
    const client = await connect({ count: 100, maxAgeMs: 1000 })
    await time.until(time.sleep(500))
    expect(client.stats()).toMatchObject({ left: 100, dropped: 0 })
    await time.until(time.sleep(60_000))
    expect(client.stats()).toMatchObject({ left: 0, dropped: 100 })
    expect(state.asked).toHaveLength(1)
    expect(() => client.next()).toThrow(expect.objectContaining({ code: 'ERR_EMPTY' }))
    await time.until(time.sleep(30))
    expect(client.take(100)).toHaveLength(100)
  })

  test('are replaced if some ids of the batch were used', async () => {
    const { time, state, connect } = world()
    const client = await connect({ count: 100, maxAgeMs: 1000 })
    client.next()
    await time.until(time.sleep(1500))
    expect(client.stats()).toMatchObject({ left: 100, dropped: 99 })
    expect(state.asked).toHaveLength(2)
    await time.until(time.sleep(60_000))
    expect(state.asked).toHaveLength(2)
  })

  test('are not used after the machine slept, which only the clock of the host shows', async () => {
    const { time, state, connect } = world()
    const client = await connect({ count: 1000, maxAgeMs: 1000 })
    // The calls are slow, so that each call reads the clock.
    for (let i = 0; i < 3; i++) {
      await time.until(time.sleep(2))
      client.next()
    }
    state.wallMs += 3_600_000
    expect(() => client.next()).toThrow(expect.objectContaining({ code: 'ERR_EMPTY' }))
    expect(client.stats()).toMatchObject({ issued: 3, dropped: 997 })
  })

  test('are kept if maxAgeMs is Infinity', async () => {
    const { time, connect } = world()
    const client = await connect({ count: 100, maxAgeMs: Infinity })
    await time.until(time.sleep(10_000_000))
    expect(client.take(10)).toHaveLength(10)
  })
})

test('a batch that is too old on arrival is requested again, with pauses, at most `retries` times', async () => {
  const { state, connect } = world()
  state.takesMs = 20
  await expect(connect({ maxAgeMs: 20, retries: 3 })).rejects.toMatchObject({
    code: 'ERR_SERVICE_UNAVAILABLE',
    message: 'http://service took 20 ms to answer, and ids are dropped after maxAgeMs (20); raise maxAgeMs',
  })
  expect(state.asked).toHaveLength(4)
})

test('the next batch arrives before the last batch is used up, however long a request takes', async () => {
  const { time, state, connect } = world()
  state.takesMs = 300
  const client = await connect({ count: 100, prefetchAt: 1, batchMs: 1000 })
  // One id a millisecond: first as the batches grow, then without a gap.
  for (let i = 0; i < 3000; i++) {
    await time.until(time.sleep(1))
    await time.until(client.nextAsync())
  }
  for (let i = 0; i < 5000; i++) {
    await time.until(time.sleep(1))
    client.next()
  }
  expect(client.stats().count).toBeGreaterThanOrEqual(1000)
  expect(client.stats().count).toBeLessThan(4000)
})

test('failures lead to longer and longer random pauses', async () => {
  const { time, state, connect } = world()
  state.status = 500
  await expect(connect({ retries: 20, maxWaitMs: 600_000 })).rejects.toMatchObject({ code: 'ERR_SERVICE_UNAVAILABLE' })
  const pauses = state.asked.slice(1).map((at, i) => at - (state.asked[i] as number) - 20)
  expect(pauses).toHaveLength(20)
  for (const [i, pause] of pauses.entries()) expect(pause).toBeLessThanOrEqual(Math.min(100 * 2 ** i, 5000))
  expect(new Set(pauses).size).toBeGreaterThan(15)
  expect(Math.max(...pauses)).toBeGreaterThan(2500)
  expect(time.monotonicMs()).toBeLessThan(600_000)
})

test('each call waits for `maxWaitMs`, also behind calls that have waited for longer', async () => {
  const { time, state, connect } = world()
  const client = await connect({ count: 10, prefetchAt: 1, callTimeoutMs: 60_000 })
  client.take(10)
  state.takesMs = 60_000
  const waitedMs = async (afterMs: number) => {
    await time.sleep(afterMs)
    const startMs = time.monotonicMs()
    await expect(client.nextAsync()).rejects.toMatchObject({ code: 'ERR_SERVICE_UNAVAILABLE' })
    return time.monotonicMs() - startMs
  }
  // A second call behind each of the first two, and one that comes after both have failed.
  const waits = await time.until(Promise.all([0, 9900, 9900, 19_000, 29_950].map(waitedMs)))
  for (const ms of waits) expect(ms, waits.join()).toBeGreaterThanOrEqual(10_000)
  for (const ms of waits) expect(ms, waits.join()).toBeLessThan(10_010)
})

test('a call that gets ids all the time goes on for longer than `maxWaitMs`', async () => {
  const { time, state, connect } = world()
  const client = await connect({ count: 100, maxCount: 100, prefetchAt: 1 })
  state.takesMs = 1000
  const startMs = time.monotonicMs()
  const [filled, behind] = await time.until(
    Promise.all([client.fillAsync(new BigUint64Array(2500)), client.nextAsync()]),
  )
  expect(time.monotonicMs() - startMs).toBeGreaterThan(20_000)
  expect(new Set([...filled, behind]).size).toBe(2501)
})
