import type { SegmentSource } from '../../src/segments/range.js'
import { SegmentNumbers } from '../../src/segments/segment-generator.js'
import { LocalSupply, type Steps } from '../../src/segments/supply.js'
import { VirtualTime } from '../support/virtual-time.js'

interface Take {
  readonly count: number | undefined
  /** The time of the request. */
  readonly atMs: number
  readonly signal: AbortSignal | undefined
  /** Answers with the requested number of numbers, or with another number of them. */
  give(count?: number): Promise<void>
  fail(error: Error): Promise<void>
}

/** A source whose answers come from the test, in virtual time. */
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
  const steps = { first: 10, least: 10, most: 80, batchMs: 1000, prefetchAt: 0.8, leadMs: 0, ...given }
  const later = time.later.bind(time)
  // The timers that let the process end.
  let background = 0
  const clock = {
    monotonicMs: () => time.monotonicMs(),
    random: () => random,
    later,
    background(callback: () => void, ms: number) {
      background++
      return later(callback, ms)
    },
  }
  const info = { name: 'orders', max: 2n ** 63n - 1n, stride: 1 }
  const onNews = (failure: Error | undefined) => news.push(failure?.message)
  const begun = LocalSupply.begin(source, { ...info, steps, callTimeoutMs: 2000, onNews }, clock)
  await takes.shift()?.give()
  const supply = await begun
  const numbers = new SegmentNumbers({ ...info, store: 'held' }, supply, clock)
  /** Returns the only attempt in progress. */
  const attempt = () => {
    if (takes.length !== 1) throw new Error(`${takes.length} attempts are under way`)
    return takes.shift() as Take
  }
  const pass = (ms: number) => time.until(time.sleep(ms))
  return {
    numbers,
    takes,
    attempt,
    news,
    pass,
    settled,
    nowMs: () => time.monotonicMs(),
    backgrounds: () => background,
  }
}
