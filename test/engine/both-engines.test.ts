import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createGenerator } from 'graupel'
import { describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'

// Both engines in one process, with as little in common as two threads can have: the worker has been started before the
// main thread imports the package, so the two share no memory of the js engine.

/** Two threads that begin one after the other, and then make ids side by side. */
const program = `
  const { Worker, isMainThread, workerData } = require('node:worker_threads')
  const [first, second] = JSON.parse(process.argv[1] ?? '[]')
  const shared = new SharedArrayBuffer(8 + 2 * 8 * 20_000)
  const worker = new Worker(\`
    const { workerData: { options, shared } } = require('node:worker_threads')
    const flags = new Int32Array(shared, 0, 2)
    const made = new BigUint64Array(shared, 8, 20_000)
    if (options.waits) Atomics.wait(flags, 0, 0)
    import('graupel').then(({ createGenerator }) => {
      const ids = createGenerator(options.with)
      made[0] = ids.next()
      Atomics.store(flags, 0, 1)
      Atomics.notify(flags, 0)
      for (let i = 1; i < made.length; i++) made[i] = ids.next()
    }).catch((error) => {
      console.log(error.code)
    }).finally(() => {
      Atomics.store(flags, 0, 1)
      Atomics.notify(flags, 0)
    })
  \`, { eval: true, workerData: { options: first, shared } })
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  worker.once('online', async () => {
    const flags = new Int32Array(shared, 0, 2)
    if (!first.waits) Atomics.wait(flags, 0, 0)
    const { createGenerator } = await import('graupel')
    const made = new BigUint64Array(shared, 8 + 8 * 20_000, 20_000)
    try {
      const ids = createGenerator(second)
      made[0] = ids.next()
      Atomics.store(flags, 0, 1)
      Atomics.notify(flags, 0)
      for (let i = 1; i < made.length; i++) made[i] = ids.next()
    } catch (error) {
      console.log(error.code)
      Atomics.store(flags, 0, 1)
      Atomics.notify(flags, 0)
    }
    await ended
    const all = [...new BigUint64Array(shared, 8)].filter((id) => id !== 0n)
    console.log(all.length, all.length - new Set(all).size)
  })
`

const states = [undefined, 'process'] as const
const starts = ['the worker', 'the main thread'] as const
const cases = states.flatMap((state) => starts.map((start) => [state, start] as const))

describe.runIf(engines.includes('native'))('both engines in threads that share no memory', () => {
  it.each(cases)('with state %s, begun by %s, make no id twice, or one of them is refused', async (state, start) => {
    const options = { node: 1, namespace: freshNamespace(), layout: undefined, ...(state && { state }) }
    const worker = { with: { ...options, engine: 'native' }, waits: start === 'the main thread' }
    const orders = JSON.stringify([worker, { ...options, engine: 'js' }])
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program, orders])
    const lines = stdout.trim().split('\n')
    expect(lines.slice(0, -1).every((line) => line === 'ERR_STATE_UNREACHABLE')).toBe(true)
    const [made = 0, duplicates] = lines.at(-1)?.split(' ').map(Number) ?? []
    expect(made).toBeGreaterThanOrEqual(20_000)
    expect(duplicates).toBe(0)
  })
})

describe.runIf(engines.includes('native'))('an engine that comes after the other one has closed', () => {
  it.each([
    ['js', 'native'],
    ['native', 'js'],
  ] as const)('%s, then %s with state process, makes no id again', (first, second) => {
    const made: bigint[] = []
    for (let round = 0; round < 100; round++) {
      const own = { node: 1, namespace: freshNamespace() }
      const one = createGenerator({ ...own, engine: first })
      const before = one.take(100)
      one.close()
      using other = createGenerator({ ...own, engine: second, state: 'process' })
      const after = other.take(100)
      made.push(BigInt(new Set([...before, ...after]).size))
    }
    expect(new Set(made)).toEqual(new Set([200n]))
  })
})
