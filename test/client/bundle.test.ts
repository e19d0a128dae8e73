import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { createGenerator } from 'graupel'
import { expect, test } from 'vitest'
import { writeSingles } from '../support/runs.ts'

// The size of the client in a page, and in a program that does not use it. test/package/bundlers.long.test.ts
// runs bundles.

/** Bundles a program for a page. */
async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    // Not in `test`, whose tsconfig.json leads esbuild to the sources.
    stdin: { contents, resolveDir: fileURLToPath(new URL('../..', import.meta.url)) },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['browser'],
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

test('a page loads no more than 48 KiB for a client, 18 KiB of them compressed, and no engine', async () => {
  const text = await bundled("import { connect } from 'graupel/client'\nconnect({ url: location.origin })")
  expect(text).toContain('graupel-byte-order')
  expect(text.length).toBeLessThanOrEqual(48 * 1024)
  expect(gzipSync(text).length).toBeLessThan(18 * 1024)
  expect(text).not.toMatch(/["'`]node:[a-z]|getBuiltinModule|no id can be made from then on/)
})

test('a program that does not use the client contains no part of it', async () => {
  expect(await bundled("import { connect } from 'graupel/client'")).toBe('')
  const text = await bundled("import { createGenerator } from 'graupel'\ncreateGenerator({ node: 1 }).next()")
  expect(text).toContain('no id can be made from then on')
  expect(text).not.toContain('graupel-byte-order')
})

test('a CommonJS program can require it', async () => {
  const { connect } = createRequire(import.meta.url)('graupel/client') as typeof import('graupel/client')
  const made = createGenerator({ node: 1, namespace: 'client required' }).fill(new BigUint64Array(10))
  const headers = {
    'content-type': 'application/vnd.graupel.runs',
    'graupel-byte-order': 'little-endian',
    'graupel-layout': 'twitter',
  }
  const ids = await connect({
    url: 'http://service',
    count: 10,
    fetch: async () => new Response(writeSingles(made), { headers }),
  })
  expect(ids.take(10)).toEqual([...made])
  ids.close()
})
