import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'
import { folder } from '../support/needs.js'

// A process has one engine for its life: the engine of its first generator.

/**
 * Runs two threads that begin one after the other, and then make ids side by side. The worker is started
 * before the main thread imports the package, so the threads share no memory of the js engine.
 */
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

const run = promisify(execFile)

const states = [undefined, 'process'] as const
const starts = ['the worker', 'the main thread'] as const
const cases = states.flatMap((state) => starts.map((start) => [state, start] as const))

const both = describe.runIf(engines.includes('native'))

both('both engines in threads that share no memory', () => {
  it.each(cases)('with state %s, begun by %s: the second is refused', async (state, start) => {
    const options = { node: 1, namespace: freshNamespace(), layout: undefined, ...(state && { state }) }
    const worker = { with: { ...options, engine: 'native' }, waits: start === 'the main thread' }
    const orders = JSON.stringify([worker, { ...options, engine: 'js' }])
    const { stdout } = await run(process.execPath, ['-e', program, orders])
    expect(stdout.trim().split('\n')).toEqual(['ERR_STATE_UNREACHABLE', '20000 0'])
  })
})

both.each(['js', 'native'] as const)('a process whose first generator has the %s engine', (first) => {
  const second = first === 'js' ? 'native' : 'js'
  const refused = `this process makes ids by the ${first} engine, and the ${second} engine is asked for; leave the option engine out, and set GRAUPEL_ENGINE for all threads or for none`
  const two = fileURLToPath(new URL('./programs/two-engines.js', import.meta.url))
  /** Makes a generator after the other in a process; returns what each of them did. */
  const outcomes = async (...steps: object[]): Promise<string[]> => {
    const { stdout } = await run(process.execPath, [two, JSON.stringify(steps)], { cwd: folder })
    return JSON.parse(stdout)
  }
  const own = () => ({ node: 1, namespace: freshNamespace() })

  it.each([{}, { state: 'process' }, { fixedClock: true }])(
    'refuses the other engine on any node, with %o, and goes on',
    async (more) => {
      const options = { ...own(), ...more }
      const others = [options, { ...options, node: 2 }, { ...own(), ...more }].map((some) => ({
        ...some,
        engine: second,
      }))
      const steps = [{ ...options, engine: first }, ...others, { ...options, engine: first }]
      expect(await outcomes(...steps)).toEqual(['ids', refused, refused, refused, 'ids'])
    },
  )

  it('refuses it when the first generator is closed, too', async () => {
    const steps = [
      { ...own(), engine: first, closes: true },
      { ...own(), engine: second },
    ]
    expect(await outcomes(...steps)).toEqual(['ids', refused])
  })

  it.each(['the other module format', 'another realm', 'a bundle', 'a worker'])(
    'refuses it to a copy in %s',
    async (copy) => {
      const steps = [
        { ...own(), engine: first },
        { ...own(), engine: second, copy },
      ]
      expect(await outcomes(...steps)).toEqual(['ids', refused])
      expect(await outcomes(...steps.map((step, at) => ({ ...step, copy: at === 0 ? copy : undefined })))).toEqual([
        'ids',
        refused,
      ])
    },
  )

  it('is not decided by a lease that was given back before', async () => {
    expect(await outcomes({ copy: 'a lease' }, { ...own(), engine: first }, { ...own(), engine: second })).toEqual([
      'ids',
      refused,
    ])
  })

  it('does not refuse it if the first generator could not be opened', async () => {
    const state = join(folder, 'none', 'such')
    const [failed, made] = await outcomes(
      { ...own(), engine: first, state },
      { ...own(), engine: second, state: 'process' },
    )
    expect(failed).toMatch(/cannot be opened|needs the native engine/)
    expect(made).toBe('ids')
  })
})
