import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyProject, type Outcome, packageFolder, run, temporaryFolder } from './consumer.ts'
import { installWithBinary } from './tarball.ts'

// Two dependencies of one program may each bring a copy of this package: two files, two modules, two
// binaries. One copy has two forms as well, for `import` and for `require`. They share the state of a node.

const folder = temporaryFolder()
const first = join(folder, 'first')
const second = join(folder, 'second')

beforeAll(() => {
  installWithBinary(first)
  copyProject(first, second)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pairs = [
  ['native', 'native'],
  ['js', 'js'],
] as const

/** Loads a copy by its form, which the name of its file shows. */
const load = `async (copy) => copy.endsWith('.cjs')
  ? process.getBuiltinModule('node:module').createRequire(copy)(copy)
  : import(process.getBuiltinModule('node:url').pathToFileURL(copy))`

/** The program of each thread: makes `count` ids, at the same time as the other threads. */
const worker = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { copy, engine, count, gate } = workerData
  ;(${load})(copy).then(({ createGenerator }) => {
    const ids = createGenerator({ node: 7, engine })
    Atomics.add(gate, 0, 1)
    Atomics.wait(gate, 1, 0)
    const made = new BigUint64Array(count)
    for (let i = 0; i < count / 2; i++) made[i] = ids.next()
    ids.fill(made.subarray(count / 2))
    parentPort.postMessage(made)
  })`

const threads = `
  const { Worker } = await import('node:worker_threads')
  const gate = new Int32Array(new SharedArrayBuffer(8))
  const count = 100_000
  const start = (engine, index) => new Promise((resolve, reject) => {
    const copy = copies[index % 2]
    new Worker(${JSON.stringify(worker)}, { eval: true, execArgv: [], workerData: { copy, engine, count, gate } })
      .on('message', resolve).on('error', reject)
  })
  const work = (engines) => {
    const done = Promise.all(engines.map(start))
    let isOver = false
    const over = () => { isOver = true }
    done.then(over, over)
    const open = () => {
      if (!isOver && Atomics.load(gate, 0) < engines.length) return setTimeout(open, 1)
      Atomics.store(gate, 1, 1)
      Atomics.notify(gate, 1)
    }
    open()
    return done
  }
  const judge = (made) => {
    const ascending = made.every((ids) => ids.every((id, i) => i === 0 || id > ids[i - 1]))
    return { distinct: new Set(made.flatMap((ids) => [...ids])).size, ascending }
  }`

describe.each([
  ['two copies', [first, second], ['index.js', 'index.js']],
  ['require and import', [first, first], ['index.cjs', 'index.js']],
] as const)('%s', (_, projects, files) => {
  const paths = projects.map((project, i) => join(packageFolder(project), 'dist', files[i] as string))

  function runWithCopies(body: string): Outcome {
    return run(folder, `const load = ${load}; const copies = ${JSON.stringify(paths)}\n${body}`)
  }

  test.each(pairs)('two copies in one thread, %s and %s, never make equal ids', (one, other) => {
    const outcome = runWithCopies(`
      const made = []
      const [a, b] = await Promise.all(copies.map(load))
      if (a.createGenerator === b.createGenerator) throw new Error('there is only one copy')
      const ids = a.createGenerator({ node: 7, engine: '${one}' })
      const others = b.createGenerator({ node: 7, engine: '${other}' })
      for (let i = 0; i < 20_000; i++) {
        made.push(ids.next(), others.next())
        if (i % 1000 === 0) made.push(...ids.take(700), ...others.take(700))
      }
      return { made: made.length, distinct: new Set(made).size, engines: [ids.stats().engine, others.stats().engine] }`)
    expect(outcome.error).toBeUndefined()
    expect(outcome.result).toEqual({ made: 68_000, distinct: 68_000, engines: [one, other] })
  })

  test.each(pairs)('two workers with a copy each, %s and %s, never make equal ids', (one, other) => {
    const outcome = runWithCopies(`${threads}
      await load(copies[0])
      return judge(await work(['${one}', '${other}']))`)
    expect(outcome.error).toBeUndefined()
    expect(outcome.result).toEqual({ distinct: 200_000, ascending: true })
  })

  test.each([
    ['native', 'js'],
    ['js', 'native'],
  ])('one copy counts on the %s engine, and the other is refused the %s one, in all threads', (one, other) => {
    const outcome = runWithCopies(`${threads}
      const [a, b] = await Promise.all(copies.map(load))
      a.createGenerator({ node: 7, engine: '${one}' }).close()
      const refusals = [await work(['${other}']).catch(({ code }) => code)]
      try { b.createGenerator({ node: 7, engine: '${other}' }) } catch ({ code }) { refusals.push(code) }
      return refusals`)
    expect(outcome.error).toBeUndefined()
    expect(outcome.result).toEqual(['ERR_STATE_UNREACHABLE', 'ERR_STATE_UNREACHABLE'])
  })

  test('natively, the main thread need not have imported a copy', () => {
    const outcome = runWithCopies(`${threads}
      return judge(await work(['native', 'native']))`)
    expect(outcome.error).toBeUndefined()
    expect(outcome.result).toEqual({ distinct: 200_000, ascending: true })
  })

  test('on the js engine, a worker refuses if the main thread has imported no copy', () => {
    const outcome = runWithCopies(`${threads}
      return await work(['js'])`)
    expect(outcome.error).toMatchObject({ code: 'ERR_STATE_UNREACHABLE' })
  })

  test("copies accept each other's layouts, and recognize each other's errors by their codes", () => {
    const outcome = runWithCopies(`
      const [a, b] = await Promise.all(copies.map(load))
      const ids = a.createGenerator({ node: 7 })
      ids.close()
      try { ids.next() } catch (error) { return {
        isError: [error instanceof a.GraupelError, error instanceof b.GraupelError, error.code],
        sequences: [[a, b], [b, a]].map(([one, other]) =>
          one.createGenerator({ node: 7, layout: other.layouts.tsid }).decode(9n).sequence),
      } }`)
    expect(outcome).toEqual({
      result: { isError: [true, false, 'ERR_CLOSED'], sequences: [9, 9] },
      warnings: [],
    })
  })
})
