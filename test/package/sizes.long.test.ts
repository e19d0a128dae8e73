import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { decodeUuid } from 'graupel/uuid'
import { build as vite } from 'vite'
import { afterAll, describe, expect, it } from 'vitest'
import webpack from 'webpack'
import { filesIn } from '../../scripts/bundle.ts'
import { bundled, compressed, programs, sizeByEsbuild, tableOfSizes } from '../../scripts/sizes.ts'
import { read, repository } from '../support/documents.js'

const dist = join(repository, 'dist')
const files = filesIn(dist).filter((file) => /\.c?js$/.test(file))

describe('the JavaScript of the package', () => {
  it('is small, in both forms together', () => {
    expect(files.length).toBeGreaterThan(30)
    expect(files.reduce((sum, file) => sum + statSync(join(dist, file)).size, 0)).toBeLessThan(1_450_000)
  })

  it.each([
    'core.js',
    'index.js',
    'lease/index.js',
    'client/index.js',
    'kind/index.js',
    'uuid/index.js',
    'testing/index.js',
    'mask/index.js',
  ])('has no effect when %s is loaded, so bundlers drop what a program does not use', async (file) => {
    // The input is a text, because a bundler trusts package.json about the effects of the package's files.
    const { outputFiles } = await build({
      stdin: { contents: readFileSync(join(dist, file), 'utf8') },
      bundle: true,
      format: 'esm',
      write: false,
      treeShaking: true,
      external: ['*'],
    })
    const [output] = outputFiles
    expect(output?.text.replace(/^import .*$|^export \{[^}]*\};?$/gm, '').trim()).not.toMatch(/^[A-Za-z.]+\(/m)
  })
})

describe('a bundle for browsers', () => {
  it('of decode and the layouts has at most 4 kB, and no engine', async () => {
    expect(await sizeByEsbuild(programs.decode)).toBeLessThanOrEqual(4000)
  })

  describe('of decode and the layouts', () => {
    // Within the repository, so that bundlers find the package by its name.
    const folder = mkdtempSync(join(repository, 'node_modules/.sizes-'))
    const entry = join(folder, 'entry.js')
    writeFileSync(entry, programs.decode)
    afterAll(() => rmSync(folder, { recursive: true }))
    const sizeOf = (name: string) => compressed(readFileSync(join(folder, name), 'utf8'))

    it('has at most 4 kB by Vite', async () => {
      await vite({
        root: folder,
        configFile: false,
        logLevel: 'error',
        build: {
          outDir: '.',
          emptyOutDir: false,
          rollupOptions: { input: entry, output: { entryFileNames: 'vite.js' } },
        },
      })
      expect(sizeOf('vite.js')).toBeLessThanOrEqual(4000)
    })

    it('has at most 4 kB by webpack', async () => {
      await new Promise<void>((resolve, reject) => {
        const output = { path: folder, filename: 'webpack.js' }
        webpack({ context: folder, mode: 'production', target: 'web', entry, output }, (error, stats) => {
          if (error || stats?.hasErrors()) reject(error ?? new Error(stats?.toString()))
          else resolve()
        })
      })
      expect(sizeOf('webpack.js')).toBeLessThanOrEqual(4000)
    })
  })

  it('of createRandomUuidGenerator has at most 3 kB, and makes UUIDs without Node', async () => {
    expect(await sizeByEsbuild(programs.randomUuids)).toBeLessThanOrEqual(3000)
    const page = createContext({ crypto })
    runInContext(await bundled(programs.randomUuids), page)
    const made = runInContext('uuids.take(100_000)', page) as string[]
    const uuid = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
    expect(made.filter((text) => !uuid.test(text))).toEqual([])
    expect([...made]).toEqual([...new Set(made)].sort())
    expect(Math.abs((decodeUuid(made[0] as string).timestampMs ?? 0) - Date.now())).toBeLessThan(60_000)
  })

  it('of a bare import keeps the import for Node, and is empty for browsers', async () => {
    const bundle = async (platform: 'node' | 'browser') => {
      const { outputFiles } = await build({
        stdin: { contents: "import 'graupel'", resolveDir: repository },
        bundle: true,
        format: 'esm',
        platform,
        write: false,
      })
      return outputFiles[0]?.text ?? ''
    }
    expect(await bundle('node')).toContain('setEnvironmentData(memoryKey')
    expect(await bundle('browser')).not.toContain('setEnvironmentData')
  })

  it('has the sizes in docs/platforms.md, with a tolerance of a twentieth', async () => {
    const rows = /^\| (.*) \| ([\d.]+) kB \|$/gm
    const sizesIn = (text: string) =>
      [...text.matchAll(rows)].map(([, name, kilobytes]) => ({ name, kilobytes: Number(kilobytes) }))
    const documented = sizesIn(read('docs/platforms.md'))
    const measured = sizesIn(await tableOfSizes())
    expect(documented.map(({ name }) => name)).toEqual(measured.map(({ name }) => name))
    for (const [i, { name, kilobytes }] of measured.entries()) {
      const told = documented[i]?.kilobytes as number
      expect(
        Math.abs(kilobytes / told - 1),
        `${name}: ${kilobytes} kB, and docs/platforms.md says ${told}; run npx tsx scripts/sizes.ts`,
      ).toBeLessThan(0.05)
    }
  })
})
