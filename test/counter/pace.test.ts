import { expect, it } from 'vitest'
import { type Counter, openCounter } from '../../src/counter/counter.js'
import { checkCounterOptions } from '../../src/counter/resolve.js'
import { memoryStore } from '../../src/stores/memory.js'
import type { Store } from '../../src/stores/store.js'
import { seededRandom } from '../support/random.ts'
import { VirtualTime } from '../support/virtual-time.ts'

// In a network of constant delay, the process that has just written would always be the first to write again.

const roundMs = 1
const forMs = 3000

it.each([2, 8])('each of %i processes that count all the time has its turn', async (processes) => {
  const random = seededRandom('pace')
  const time = new VirtualTime()
  const inner = memoryStore()
  const far = async <T>(apply: () => Promise<T>): Promise<T> => {
    await time.sleep(roundMs / 2)
    const answer = await apply()
    await time.sleep(roundMs / 2)
    return answer
  }
  const store: Store = {
    ...inner,
    read: (key) => far(() => inner.read(key)),
    write: (...words) => far(() => inner.write(...words)),
  }
  let tokens = 0
  const tools = {
    wallMs: () => 0,
    monotonicMs: () => time.monotonicMs(),
    later: (callback: () => void, ms: number) => time.later(callback, ms),
    random,
    newToken: () => `t${++tokens}`,
    generation: () => 0,
  }
  const count = async (counter: Counter) => {
    let slowestMs = 0
    while (time.monotonicMs() < forMs) {
      const sinceMs = time.monotonicMs()
      await counter.nextNumber()
      slowestMs = Math.max(slowestMs, time.monotonicMs() - sinceMs)
    }
    return { slowestMs, issued: counter.stats().issued }
  }
  const counters = Array.from({ length: processes }, () =>
    openCounter(checkCounterOptions({ store, name: 'orders' }), tools),
  )
  const results = await time.until(Promise.all(counters.map(async (counter) => count(await counter))))
  const issued = results.map((result) => result.issued)
  const all = issued.reduce((sum, part) => sum + part, 0)
  // At best, each number needs one round. With some hundred turns of each process, a third of the mean is far
  // below chance.
  expect(all).toBeGreaterThan(forMs / roundMs / 4)
  expect(Math.min(...issued)).toBeGreaterThan(all / processes / 3)
  // With eight processes a turn is lost with a chance of 7/8, so 150 lost turns in a row happen in one of
  // some million runs.
  expect(Math.max(...results.map(({ slowestMs }) => slowestMs))).toBeLessThan(200 * roundMs)
})
