import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { build } from 'esbuild'
import { createGenerator } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { folder } from '../support/needs.js'

// A key has one engine for the life of a process: the engine of its first generator.

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

const states = [undefined, 'process'] as const
const starts = ['the worker', 'the main thread'] as const
const cases = states.flatMap((state) => starts.map((start) => [state, start] as const))

const both = describe.runIf(engines.includes('native'))
const pairs = [
  ['js', 'native'],
  ['native', 'js'],
] as const

both('both engines in threads that share no memory', () => {
  it.each(cases)('with state %s, begun by %s: the second is refused', async (state, start) => {
    const options = { node: 1, namespace: freshNamespace(), layout: undefined, ...(state && { state }) }
    const worker = { with: { ...options, engine: 'native' }, waits: start === 'the main thread' }
    const orders = JSON.stringify([worker, { ...options, engine: 'js' }])
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program, orders])
    expect(stdout.trim().split('\n')).toEqual(['ERR_STATE_UNREACHABLE', '20000 0'])
  })
})

both.each(pairs)('a generator of the %s engine, and then one of the %s engine', (first, second) => {
  const expectRefusal = (make: () => unknown) => {
    const message = `the ${first} engine counts layout 'twitter' .* and this generator asks for the ${second} engine`
    expect(caught(make)).toMatchObject({ code: 'ERR_STATE_UNREACHABLE', message: expect.stringMatching(message) })
  }
  const own = () => ({ node: 1, namespace: freshNamespace() })

  it.each([{}, { state: 'process' }, { clock: () => 1_700_000_000_000 }] as const)(
    'with %o: the second is refused, and the first goes on',
    (more) => {
      const options = { ...own(), ...more }
      const ids = createGenerator({ ...options, engine: first })
      ids.next()
      for (let i = 0; i < 2; i++) expectRefusal(() => createGenerator({ ...options, engine: second }))
      expect(ids.take(100)).toHaveLength(100)
      using again = createGenerator({ ...options, engine: first })
      expect(again.next()).toBeGreaterThan(0n)
    },
  )

  it('is refused when the first is closed, too', () => {
    const options = own()
    createGenerator({ ...options, engine: first }).close()
    expectRefusal(() => createGenerator({ ...options, engine: second, state: 'process' }))
  })

  it('is refused to other copies of the package: in the other module format, in another realm, and in a bundle', async () => {
    const require = createRequire(import.meta.url)
    type Package = typeof import('graupel')
    const file = require.resolve('graupel')
    const bundle = join(folder, `bundle-${first}.cjs`)
    await build({ entryPoints: [file], bundle: true, platform: 'node', outfile: bundle, logLevel: 'silent' })
    const realm: { exports: Partial<Package> } = { exports: {} }
    const globals = { process, performance, TextEncoder, SharedArrayBuffer, console }
    const code = `(function (require, module, exports, __filename) {${readFileSync(file, 'utf8')}\n})`
    runInNewContext(code, globals)(createRequire(file), realm, realm.exports, file)
    for (const copy of [require(file) as Package, realm.exports as Package, require(bundle) as Package]) {
      expect(copy.createGenerator).not.toBe(createGenerator)
      const [mine, theirs] = [own(), own()]
      createGenerator({ ...mine, engine: first })
      expectRefusal(() => copy.createGenerator({ ...mine, engine: second }))
      copy.createGenerator({ ...theirs, engine: first })
      expectRefusal(() => createGenerator({ ...theirs, engine: second }))
    }
  })

  it('is not refused if the first could not be opened', () => {
    const options = own()
    const state = join(folder, 'none', 'such')
    expect(() => createGenerator({ ...options, engine: first, state })).toThrow()
    using ids = createGenerator({ ...options, engine: second, state: 'process' })
    expect(ids.next()).toBeGreaterThan(0n)
  })
})
