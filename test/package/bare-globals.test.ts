import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { repository } from '../support/documents.ts'

// Some runtimes lack globals that browsers have: jsdom has no TextEncoder, React Native no Atomics. An entry
// is imported there for one of its functions, so no entry needs a global when it is loaded.

const entries = Object.entries(manifest.exports as Record<string, { require?: { default: string } }>)
  .flatMap(([name, { require }]) => (require === undefined ? [] : [[name, require.default] as const]))
  // Only for Node.
  .filter(([name]) => name !== './stores/url')

/**
 * Makes a `require` for the CommonJS files of `dist`, for browsers, in a context that has the globals of the
 * language and no others.
 *
 * @param missing - Globals of the language that the context has not, either.
 * @param globals - Globals beyond the language.
 */
function bareRequire(missing: readonly string[], globals = {}): (file: string) => never {
  const context = createContext(globals)
  runInContext(`${missing.map((name) => `delete globalThis.${name}`).join(';')}; delete globalThis.console`, context)
  const loaded = new Map<string, { exports: unknown }>()
  const load = (file: string): unknown => {
    const known = loaded.get(file)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    loaded.set(file, module)
    const imports = manifest.imports as Record<string, { require: { browser: string } }>
    const resolve = (name: string) =>
      name.startsWith('#') ? join(repository, imports[name]?.require.browser as string) : join(dirname(file), name)
    const run = runInContext(`(function (module, exports, require) {${readFileSync(file, 'utf8')}\n})`, context, file)
    // The peer of the mask is an ES module.
    run(module, module.exports, (name: string) => (name.startsWith('@noble/') ? {} : load(resolve(name))))
    return module.exports
  }
  return (file) => load(join(repository, file)) as never
}

it('has every entry', () => {
  expect(entries.length).toBeGreaterThan(15)
  for (const [, file] of entries) expect(existsSync(join(repository, file)), file).toBe(true)
})

describe.each([
  ['the globals of the language', []],
  ['neither Atomics nor SharedArrayBuffer', ['Atomics', 'SharedArrayBuffer']],
])('in a context with %s', (_, missing) => {
  it.each(entries)('%s is loaded', (_name, file) => {
    expect(Object.keys(bareRequire(missing)(file))).not.toEqual([])
  })
})

describe('without TextEncoder', () => {
  it('a generator makes ids, for any namespace', () => {
    const { createGenerator } = bareRequire([])('./dist/index.cjs') as typeof import('graupel')
    const namespaces = ['default', 'ä €', '😀']
    for (const namespace of namespaces) {
      const ids = createGenerator({ node: 7, namespace, state: 'process', clock: () => Date.now() })
      expect(new Set(ids.take(1000)).size).toBe(1000)
    }
  })
})

describe('without Atomics', () => {
  const require = bareRequire(['Atomics', 'SharedArrayBuffer'])

  it('ids are decoded, and a generator is refused with a code', () => {
    const { createGenerator, decode, layouts } = require('./dist/index.cjs') as typeof import('graupel')
    expect(decode('175928847299117063', layouts.discord).sequence).toBe(7)
    expect(() => createGenerator({ node: 7, state: 'process', clock: () => Date.now() })).toThrow(
      expect.objectContaining({
        code: 'ERR_STATE_UNREACHABLE',
        message: expect.stringMatching(/^this runtime has no Atomics, .*; get ids from a server/),
      }),
    )
  })

  it('segments and leases are refused with a code', async () => {
    const globals = { setTimeout, clearTimeout, performance, AbortController, AbortSignal, TextEncoder, crypto }
    const require = bareRequire(['Atomics', 'SharedArrayBuffer'], globals)
    const { createSegmentGenerator } = require('./dist/segments/index.cjs') as typeof import('graupel/segments')
    const { acquireLease } = require('./dist/lease/index.cjs') as typeof import('graupel/lease')
    const { memoryStore } = require('./dist/stores/index.cjs') as typeof import('graupel/stores')
    const store = memoryStore()
    const refused = { code: 'ERR_STATE_UNREACHABLE' }
    await expect(createSegmentGenerator({ store, name: 'orders' })).rejects.toMatchObject(refused)
    await expect(acquireLease({ store })).rejects.toMatchObject(refused)
  })
})
