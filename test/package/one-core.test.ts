import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { createGenerator, GraupelError, layouts } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import { sqliteStore } from 'graupel/stores/sqlite'
import { testGenerator } from 'graupel/testing'
import { describe, expect, it } from 'vitest'
import { repository } from '../support/documents.js'

const required = createRequire(import.meta.url)
const imported = { createGenerator, GraupelError, layouts, acquireLease, memoryStore, sqliteStore, testGenerator }
const names = ['graupel', 'graupel/lease', 'graupel/stores', 'graupel/stores/sqlite', 'graupel/testing']
const forms: [string, typeof imported][] = [
  ['import', imported],
  ['require', Object.assign({}, ...names.map((name) => required(name)))],
]

describe.each(forms)('the entries that programs %s', (_form, entries) => {
  it('have the same layouts', async () => {
    const { twitter } = entries.layouts
    const lease = await entries.acquireLease({ store: entries.memoryStore() })
    const generators = [1, 2].map(() => entries.createGenerator({ lease }))
    expect(lease.layout).toBe(twitter)
    for (const ids of generators) expect(ids.layout).toBe(twitter)
    expect(entries.testGenerator().layout).toBe(twitter)
    expect(entries.createGenerator({ node: 7, engine: 'js', state: 'thread' }).layout).toBe(twitter)
    for (const ids of generators) ids.close()
    await lease.release()
  })

  it('throw errors of the same class', async () => {
    const careless = { exec() {}, prepare: () => ({ all: () => [{ synchronous: 1 }] }) }
    const failure = await entries
      .sqliteStore(careless)
      .read('a/1', new AbortController().signal)
      .catch((error) => error)
    expect(failure.code).toBe('ERR_STORE_UNSAFE')
    expect(Object.getPrototypeOf(failure)).toBe(entries.GraupelError.prototype)
    expect(Object.getOwnPropertySymbols(entries.GraupelError)).toEqual([])
  })
})

it('a process publishes its engine once, and warns once, whatever entries it imports', () => {
  const program = `
    const { subscribe } = await import('node:diagnostics_channel')
    const events = []
    process.on('warning', ({ code }) => events.push(code))
    subscribe('graupel:engine', (event) => events.push(event.kind))
    process.dlopen = () => { throw new Error('there is none') }
    const { createGenerator, engineInfo } = await import('graupel')
    const { acquireLease } = await import('graupel/lease')
    const { createSegmentGenerator } = await import('graupel/segments')
    const { memoryStore } = await import('graupel/stores')
    engineInfo()
    createGenerator({ node: 7 }).next()
    const lease = await acquireLease({ store: memoryStore() })
    createGenerator({ lease }).next()
    await createSegmentGenerator({ store: memoryStore(), name: 'orders' })
    setImmediate(() => {
      console.log(JSON.stringify(events))
      process.exit()
    })`
  const env = { ...process.env, GRAUPEL_ENGINE: undefined, NODE_OPTIONS: undefined }
  const args = ['--input-type=module', '-e', program]
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: repository, env, encoding: 'utf8' })
  expect(stdout, stderr).not.toBe('')
  expect(JSON.parse(stdout).sort()).toEqual(['GRAUPEL_JS_ENGINE', 'js'])
})
