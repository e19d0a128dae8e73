import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { createGenerator, type GeneratorOptions } from 'graupel'
import { describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'
import { duplicatesAmong, isAscending } from '../support/ids.js'
import { until } from '../support/until.js'

const workerFile = new URL('./programs/id-worker.js', import.meta.url)

interface Work {
  readonly program?: URL
  readonly calls?: 'next' | 'all'
  /** More data for the program. */
  readonly data?: object
}

/** Starts workers that begin together, and collects their ids. */
export async function startWorkers(
  count: number,
  idsEach: number,
  options: GeneratorOptions,
  { program = workerFile, calls = 'next', data }: Work = {},
) {
  const start = new SharedArrayBuffer(12)
  const flag = new Int32Array(start)
  const workers = Array.from({ length: count }, () => {
    const ids = new SharedArrayBuffer(idsEach * 8)
    const made = new SharedArrayBuffer(4)
    const worker = new Worker(program, { workerData: { options, ids, made, start, calls, ...data } })
    const ended = Promise.race([
      once(worker, 'exit'),
      once(worker, 'error').then(([error]) => {
        throw error
      }),
    ])
    // The rejection is read after the end, and must not count as unhandled until then.
    ended.catch(() => {})
    return { worker, ended, made: () => new BigUint64Array(ids).subarray(0, new Int32Array(made)[0]) }
  })
  while (Atomics.load(flag, 1) < count) {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, 5)), ...workers.map(({ ended }) => ended)])
  }
  Atomics.store(flag, 0, 1)
  Atomics.notify(flag, 0)
  return workers
}

interface Workers {
  /** The number of ids of each of 8 workers. */
  readonly each: number
  /** The number of rounds in which 4 workers are terminated. */
  readonly terminations: number
  /** The number of rounds in which 2 workers start and end. */
  readonly rounds: number
}

export function proveThreads({ each, terminations, rounds }: Workers): void {
  describe.each(engines)('threads on the %s engine', (engine) => {
    it(`8 workers make ${each} ids each on one node: no duplicate, and each sees them ascend`, async () => {
      const workers = await startWorkers(8, each, { engine, node: 1, namespace: freshNamespace() })
      await Promise.all(workers.map(({ ended }) => ended))
      const made = workers.map((worker) => worker.made())
      expect(made.map(({ length }) => length)).toEqual(Array(8).fill(each))
      expect(made.every(isAscending)).toBe(true)
      expect(duplicatesAmong(made)).toBe(0)
    })

    it('workers that are terminated at any moment leave no duplicate behind', async () => {
      const options = { engine, node: 2, namespace: freshNamespace() }
      const main = createGenerator(options)
      const made: BigUint64Array[] = []
      let terminated = 0
      for (let round = 0; round < terminations; round++) {
        const workers = await startWorkers(4, 2_000_000, options, { calls: 'all' })
        made.push(BigUint64Array.from(main.take(3000)))
        // A busy machine may run a thread late.
        await until(() => workers.every((worker) => worker.made().length > 500))
        for (const { worker } of workers) {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 12))
          // A worker that has made all of its ids before has no exit code.
          if ((await worker.terminate()) === 1) terminated++
        }
        made.push(...workers.map((worker) => worker.made().slice()))
        made.push(BigUint64Array.from(main.take(3000)))
      }
      expect(terminated).toBeGreaterThan(terminations * 2)
      expect(made.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(terminations * 8000)
      expect(made.every(isAscending)).toBe(true)
      expect(duplicatesAmong(made)).toBe(0)
    })

    it('workers start and end without losing the state, or any id', async () => {
      const options: GeneratorOptions = { engine, node: 3, namespace: freshNamespace() }
      const made: BigUint64Array[] = []
      for (let round = 0; round < rounds; round++) {
        const workers = await startWorkers(2, 300, options, { calls: 'all' })
        await Promise.all(workers.map(({ ended }) => ended))
        made.push(...workers.map((worker) => worker.made()))
      }
      expect(made.map(({ length }) => length)).toEqual(Array(rounds * 2).fill(300))
      expect(duplicatesAmong(made)).toBe(0)
    })
  })
}
