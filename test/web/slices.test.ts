import { describe, expect, it } from 'vitest'
import { inSlices, Job } from '../../web/src/slices.ts'
import { until } from '../support/until.ts'

/** Works for several slices. Each step lasts until the clock has moved. */
function* work(steps: { done: number }, count = 100): Generator<number, string> {
  while (steps.done < count) {
    const endMs = performance.now() + 1
    while (performance.now() < endMs);
    yield ++steps.done / count
  }
  return 'all'
}

describe('work in slices', () => {
  it('lets other work run in between, and ends with its result', async () => {
    const steps = { done: 0 }
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    const told: number[] = []
    expect(await inSlices(work(steps), (done) => told.push(done), new AbortController().signal)).toBe('all')
    clearInterval(timer)
    expect(turns).toBeGreaterThan(0)
    expect(told.length).toBeGreaterThan(0)
    expect(told).toEqual(told.toSorted((a, b) => a - b))
  })

  it('ends within a slice when it is cancelled', async () => {
    const steps = { done: 0 }
    const abort = new AbortController()
    const result = inSlices(work(steps), () => abort.abort(), abort.signal)
    await expect(result).rejects.toThrow(/abort/i)
    expect(steps.done).toBeLessThan(100)
  })
})

describe('a job', () => {
  it('gives only the result of the latest work', async () => {
    const job = new Job<string>(() => {})
    const [old, next] = [{ done: 0 }, { done: 0 }]
    job.begin(['old'], () => work(old))
    job.begin(['new'], () => work(next, 30))
    job.begin(['new'], () => work({ done: 0 }))
    await until(() => job.result !== undefined)
    expect(next.done).toBe(30)
    expect(old.done).toBeLessThan(100)
    expect(job.progress).toBeUndefined()
  })

  it('stays cancelled until other work begins', async () => {
    const job = new Job<string>(() => {})
    const steps = { done: 0 }
    job.begin([1], () => work(steps))
    job.cancel()
    job.begin([1], () => work(steps))
    expect(job).toMatchObject({ isCancelled: true, progress: undefined, result: undefined })
    job.begin([2], () => work({ done: 0 }, 1))
    await until(() => job.result === 'all')
    expect(job.isCancelled).toBe(false)
    expect(steps.done).toBeLessThan(100)
  })
})
