import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { createGenerator, defineLayout, engineInfo } from 'graupel'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { caught, freshNamespace } from '../support/engines.js'

const { copyMachine, path, remove } = await vi.hoisted(async () =>
  (await import('../support/vmclock.js')).standInForVmClock(),
)
afterAll(remove)

const isNative = engineInfo().kind === 'native'

describe.skipIf(!isNative || process.platform !== 'linux')('a copy of the machine, as a device tells it', () => {
  it('is detected', () => {
    expect(engineInfo()).toMatchObject({ copies: 'detected', copiesDevice: path })
  })

  it.each<[string, (ids: ReturnType<typeof createGenerator>) => unknown]>([
    ['next', (ids) => ids.next()],
    ['nextString', (ids) => ids.nextString()],
    ['fill', (ids) => ids.fill(new BigUint64Array(3))],
    ['take', (ids) => ids.take(5000)],
  ])('makes no id on a node given by hand: %s', (_, make) => {
    const ids = createGenerator({ node: 7, namespace: freshNamespace() })
    make(ids)
    const { issued } = ids.stats()
    copyMachine()
    expect(caught(() => make(ids))).toMatchObject({
      code: 'ERR_STATE_CLONED',
      message: expect.stringContaining('node 7'),
    })
    expect(caught(() => make(ids)).code).toBe('ERR_STATE_CLONED')
    expect(ids.stats().issued).toBe(issued)
  })

  it('makes no id by a view, whether it was made before or after the copy', () => {
    const fields = [
      ['timestamp', 41],
      ['worker', 8],
      ['shard', 6, 'tag?'],
      ['sequence', 8],
    ] as const
    const layout = defineLayout({ name: 'sharded', epochMs: Date.UTC(2024, 0, 1), tickMs: 1, fields })
    const ids = createGenerator({ node: 7, layout, namespace: freshNamespace() })
    const view = ids.with({ shard: 5 })
    view.take(3)
    copyMachine()
    const later = ids.with({ shard: 6 })
    for (const maker of [ids, view, later, view.with({ shard: 7 })]) {
      expect(caught(() => maker.next()).code).toBe('ERR_STATE_CLONED')
      expect(caught(() => maker.fill(new BigUint64Array(3))).code).toBe('ERR_STATE_CLONED')
    }
    expect([ids, view, later].map((maker) => maker.stats().issued)).toEqual([0, 3, 0])
  })

  it('makes no id after an id was observed', () => {
    const namespace = freshNamespace()
    const ids = createGenerator({ node: 7, namespace })
    const other = createGenerator({ node: 8, namespace, clock: () => Date.now() + 500 })
    const [first, second] = other.take(2) as [bigint, bigint]
    ids.observe(first)
    ids.next()
    copyMachine()
    for (const id of [first, second]) {
      expect(ids.observe(id)).toBe(id)
      expect(caught(() => ids.next()).code).toBe('ERR_STATE_CLONED')
    }
  })

  it('rejects calls that wait', async () => {
    const ids = createGenerator({ node: 7, namespace: freshNamespace() })
    await ids.nextAsync()
    copyMachine()
    await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_STATE_CLONED' })
    await expect(ids.fillAsync(new BigUint64Array(3))).rejects.toMatchObject({ code: 'ERR_STATE_CLONED', filled: 0 })
  })

  it('is noticed if it is made in a call, before the slot is reserved', () => {
    let copyNow = false
    const clock = () => {
      if (copyNow) copyMachine()
      copyNow = false
      return Date.UTC(2026, 0, 1)
    }
    for (const makes of ['next', 'fill'] as const) {
      const ids = createGenerator({ node: 7, namespace: freshNamespace(), clock })
      ids.take(3)
      copyNow = true
      const call = () => (makes === 'next' ? ids.next() : ids.fill(new BigUint64Array(1)))
      expect(caught(call).code).toBe('ERR_STATE_CLONED')
    }
  })

  it('makes ids on a node that is given after the copy', () => {
    const namespace = freshNamespace()
    createGenerator({ node: 7, namespace }).next()
    copyMachine()
    expect(createGenerator({ node: 8, namespace }).take(10)).toHaveLength(10)
  })

  it('is noticed in every thread', async () => {
    const namespace = freshNamespace()
    const url = new URL('./programs/copied-worker.js', import.meta.url)
    const workers = [1, 2].map(() => new Worker(url, { workerData: { namespace } }))
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    copyMachine()
    const last = await Promise.all(
      workers.map(async (worker) => {
        worker.postMessage('make')
        return (await once(worker, 'message'))[0]
      }),
    )
    expect(last).toEqual(['ERR_STATE_CLONED', 'ERR_STATE_CLONED'])
    await Promise.all(workers.map((worker) => worker.terminate()))
  })
})
