import { createGenerator, layouts } from 'graupel'
import { expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'
import { duplicatesAmong, isAscending } from '../support/ids.js'
import { until } from '../support/until.js'
import { startWorkers } from './workers.js'

const program = new URL('./programs/observing-worker.js', import.meta.url)

it.each(engines)(
  'threads that observe ids make larger ones, while other threads end at any moment, on the %s engine',
  async (engine) => {
    const options = { engine, node: 5, namespace: freshNamespace(), onRollback: 'throw' } as const
    // A host whose clock is 200 ms ahead, and whose node is larger.
    const clock = () => Date.now() + 200
    const other = createGenerator({ node: 900, namespace: freshNamespace(), clock, layout: layouts.twitter })
    const seen = new BigUint64Array(new SharedArrayBuffer(8))
    Atomics.store(seen, 0, other.next())
    const ids = createGenerator(options)
    const own: bigint[] = []
    const made: BigUint64Array[] = []
    const answer = () => {
      const question = other.next()
      Atomics.store(seen, 0, question)
      ids.observe(question)
      const id = ids.next()
      expect(id).toBeGreaterThan(question)
      own.push(id)
    }
    for (let round = 0; round < 4; round++) {
      const workers = await startWorkers(3, 2_000_000, options, { program, data: { seen: seen.buffer } })
      await until(() => {
        for (let i = 0; i < 100; i++) answer()
        return workers.every((worker) => worker.made().length > 500)
      })
      for (const { worker } of workers) {
        answer()
        expect(await worker.terminate()).toBe(1)
        for (let i = 0; i < 100; i++) answer()
      }
      made.push(...workers.map((worker) => worker.made().slice()))
    }
    made.push(BigUint64Array.from(own))
    expect(made.every(isAscending)).toBe(true)
    expect(duplicatesAmong(made)).toBe(0)
    expect(ids.stats()).toMatchObject({ refused: 0, rollbacks: 0 })
  },
)
