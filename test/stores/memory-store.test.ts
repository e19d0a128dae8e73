import { spawnSync } from 'node:child_process'
import { memoryStore } from 'graupel/stores'
import { describe, expect, it } from 'vitest'
import { repository } from '../support/documents.ts'
import { caught } from '../support/engines.js'

/** Runs a program as a service does, and returns the messages of its warnings about the store. */
function warningsOf(code: string, variables: Record<string, string> = {}) {
  const program = `
    import { acquireLease } from 'graupel/lease'
    import { createCounter, createSegmentGenerator } from 'graupel/segments'
    import { memoryStore } from 'graupel/stores'
    import { memoryStore as same } from 'graupel/stores/memory'
    ${code}`
  const { NODE_ENV, NODE_TEST_CONTEXT, ...rest } = process.env
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: repository,
    encoding: 'utf8',
    env: { ...rest, ...variables },
  })
  expect(status, stderr).toBe(0)
  return [...stderr.matchAll(/\[GRAUPEL_MEMORY_STORE\] Warning: (.*)/g)].map(([, message]) => message)
}

describe('a store in memory', () => {
  it.each([
    ['two leases', 'for (const store of [memoryStore(), same()]) await acquireLease({ store })'],
    ['segments', "await createSegmentGenerator({ store: memoryStore(), name: 'orders' })"],
    ['a counter', "await (await createCounter({ store: memoryStore(), name: 'orders' })).next()"],
    ['a store that wraps it', 'await acquireLease({ store: { ...memoryStore(), name: "mine" } })'],
    ['add()', "await memoryStore().add('sum', 1n)"],
  ])('causes one warning in a process, by %s', (_, code) => {
    expect(warningsOf(code)).toEqual([
      expect.stringMatching(
        /in one process.*store that all processes reach \(docs\/leases\.md\).*assumeOneProcess: true/,
      ),
    ])
  })

  it('causes one warning in a thread that shares no memory with the main thread', () => {
    const inWorker = `import('graupel/stores').then(async ({ memoryStore }) => {
      const store = memoryStore()
      for (let i = 0; i < 3; i++) await store.add('sum', 1n)
    })`
    // The main thread does not import the package.
    const program = `new (require('node:worker_threads').Worker)(${JSON.stringify(inWorker)}, { eval: true })`
    const { status, stderr } = spawnSync(process.execPath, ['-e', program], {
      cwd: repository,
      encoding: 'utf8',
      env: { ...process.env, NODE_ENV: 'production', NODE_TEST_CONTEXT: undefined },
    })
    expect(status, stderr).toBe(0)
    expect(stderr.match(/GRAUPEL_MEMORY_STORE/g)).toHaveLength(1)
  })

  it.each<[string, string, Record<string, string>?]>([
    ['if it is only read', "await createCounter({ store: memoryStore(), name: 'orders' })"],
    ['if there is one process', 'await acquireLease({ store: memoryStore({ assumeOneProcess: true }) })'],
    ['in a test of Jest or Vitest', 'await acquireLease({ store: memoryStore() })', { NODE_ENV: 'test' }],
    ['in a test of Node', 'await acquireLease({ store: memoryStore() })', { NODE_TEST_CONTEXT: 'child-v8' }],
  ])('causes none %s', (_, code, variables) => {
    expect(warningsOf(code, variables)).toEqual([])
  })

  it('refuses options that it does not have, and other values', () => {
    expect(caught(() => memoryStore({ assumeOneProcess: 1 as never }))).toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: 'assumeOneProcess is 1; pass true or false',
    })
    expect(caught(() => memoryStore({ assumeDurable: true } as never))).toMatchObject({ code: 'ERR_OPTION_UNKNOWN' })
  })
})
