import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { createGenerator, type GeneratorOptions } from 'graupel'
import { describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../engines.js'

const workerFile = new URL('./id-worker.js', import.meta.url)

/** Workers that begin together, and what they have made so far. */
async function startWorkers(count: number, idsEach: number, options: GeneratorOptions, calls: 'next' | 'all' = 'next') {
  const start = new SharedArrayBuffer(8)
  const flag = new Int32Array(start)
  const workers = Array.from({ length: count }, () => {
    const ids = new SharedArrayBuffer(idsEach * 8)
    const made = new SharedArrayBuffer(4)
    const worker = new Worker(workerFile, { workerData: { options, ids, made, start, calls } })
    const ended = Promise.race([
      once(worker, 'exit'),
      once(worker, 'error').then(([error]) => {
        throw error
      }),
    ])
    // Read after the end; until then it must not count as unhandled.
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

function duplicatesAmong(arrays: readonly BigUint64Array[]): number {
  const all = new BigUint64Array(arrays.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const array of arrays) {
    all.set(array, at)
    at += array.length
  }
  all.sort()
  let duplicates = 0
  for (let i = 1; i < all.length; i++) if (all[i] === all[i - 1]) duplicates++
  return duplicates
}

function isAscending(ids: BigUint64Array): boolean {
  for (let i = 1; i < ids.length; i++) if ((ids[i] as bigint) <= (ids[i - 1] as bigint)) return false
  return true
}

describe.each(engines)('threads on the %s engine', (engine) => {
  it('8 workers make 1 000 000 ids each on one node: no duplicate, and each sees them ascend', async () => {
    const workers = await startWorkers(8, 1_000_000, { engine, node: 1, namespace: freshNamespace() })
    await Promise.all(workers.map(({ ended }) => ended))
    const made = workers.map((worker) => worker.made())
    expect(made.map(({ length }) => length)).toEqual(Array(8).fill(1_000_000))
    expect(made.every(isAscending)).toBe(true)
    expect(duplicatesAmong(made)).toBe(0)
  })

  it('workers that are terminated at any moment leave no duplicate behind', async () => {
    const options = { engine, node: 2, namespace: freshNamespace() }
    const main = createGenerator(options)
    const made: BigUint64Array[] = []
    for (let round = 0; round < 6; round++) {
      const workers = await startWorkers(4, 2_000_000, options, 'all')
      made.push(BigUint64Array.from(main.take(3000)))
      for (const { worker } of workers) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 12))
        await worker.terminate()
      }
      made.push(...workers.map((worker) => worker.made().slice()))
      made.push(BigUint64Array.from(main.take(3000)))
    }
    expect(made.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(50_000)
    expect(made.every(isAscending)).toBe(true)
    expect(duplicatesAmong(made)).toBe(0)
  })

  it('workers come and go without losing the state, or anything else', async () => {
    const options: GeneratorOptions = { engine, node: 3, namespace: freshNamespace() }
    const made: BigUint64Array[] = []
    for (let round = 0; round < 25; round++) {
      const workers = await startWorkers(2, 300, options, 'all')
      await Promise.all(workers.map(({ ended }) => ended))
      made.push(...workers.map((worker) => worker.made()))
    }
    expect(duplicatesAmong(made)).toBe(0)
  })
})

describe('a process whose main thread does not import the package', () => {
  /** Runs two workers one after the other; each prints the sequence number of its first id at the same moment. */
  const script = (engine: string) => `
    const { Worker } = require('node:worker_threads')
    const code = \`
      import('graupel').then(({ createGenerator }) => {
        const now = 1700000000000
        const ids = createGenerator({ engine: '${engine}', node: 1, clock: () => now })
        console.log(ids.decode(ids.take(10)[0]).sequence)
      }, console.error)
    \`
    const run = () => new Promise((resolve, reject) => new Worker(code, { eval: true }).on('error', reject).on('exit', resolve))
    run().then(run).catch((error) => console.log(error.code))
  `
  const output = (engine: string) =>
    execFileSync(process.execPath, ['-e', script(engine)], {
      encoding: 'utf8',
      cwd: new URL('../..', import.meta.url),
    }).trim()

  it.runIf(engines.includes('native'))('still has one state on the native engine, which stays loaded', () => {
    expect(output('native').split('\n')).toEqual(['0', '10'])
  })

  it('is refused by the js engine in its workers, because they could not see one another', () => {
    expect(output('js')).toContain('ERR_STATE_UNREACHABLE')
  })
})
