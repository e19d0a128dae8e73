import { expect } from 'vitest'
import { Fetcher } from '../../src/segments/fetcher.js'
import { SegmentMemory } from '../../src/segments/memory.js'
import { Numbers } from '../../src/segments/numbers.js'
import type { SegmentSource } from '../../src/segments/source.js'
import type { Steps } from '../../src/segments/steps.js'
import { VirtualTime } from '../support/virtual-time.js'

interface Take {
  readonly count: number | undefined
  /** When it was asked for. */
  readonly atMs: number
  readonly signal: AbortSignal | undefined
  /** Gives as many as were asked for, or some. */
  give(count?: number): Promise<void>
  fail(error: Error): Promise<void>
}

/** Numbers from a source whose every answer is the test's, in virtual time. */
export async function heldNumbers(given: Partial<Steps> = {}, random = 0.5) {
  const time = new VirtualTime()
  const takes: Take[] = []
  const news: (string | undefined)[] = []
  let next = 1n
  const settled = () => time.until(time.sleep(0))
  const source: SegmentSource = {
    name: 'held',
    take: (count, signal) =>
      new Promise((resolve, reject) => {
        takes.push({
          count,
          atMs: time.monotonicMs(),
          signal,
          give(some = count ?? 10) {
            resolve({ first: next, count: some })
            next += BigInt(some)
            return settled()
          },
          fail(error) {
            reject(error)
            return settled()
          },
        })
      }),
  }
  const memory = SegmentMemory.make(1)
  const steps = { first: 10, least: 10, most: 80, batchMs: 1000, prefetchAt: 0.8, leadMs: 0, ...given }
  const later = time.later.bind(time)
  // Which of the timers let the process end.
  let background = 0
  const fetcher = new Fetcher({
    name: 'orders',
    source,
    memory,
    steps,
    clock: {
      monotonicMs: () => time.monotonicMs(),
      random: () => random,
      later,
      background(callback, ms) {
        background++
        return later(callback, ms)
      },
    },
    onNews: (failure) => news.push(failure?.message),
  })
  const begun = fetcher.begin(undefined)
  await takes.shift()?.give()
  await begun
  const parts = { name: 'orders', store: 'held', max: 2n ** 63n - 1n, stride: 1, memory, supply: fetcher }
  const numbers = new Numbers({ ...parts, isShared: false, share: () => expect.fail('it is shared') })
  /** The one attempt that is under way. */
  const attempt = () => {
    if (takes.length !== 1) throw new Error(`${takes.length} attempts are under way`)
    return takes.shift() as Take
  }
  const pass = (ms: number) => time.until(time.sleep(ms))
  return {
    numbers,
    fetcher,
    memory,
    takes,
    attempt,
    news,
    pass,
    settled,
    nowMs: () => time.monotonicMs(),
    backgrounds: () => background,
  }
}
