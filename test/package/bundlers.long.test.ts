import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build as esbuild } from 'esbuild'
import { build as vite } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import webpack from 'webpack'
import { node, packageFolder, temporaryFolder } from './consumer.ts'
import { installWithBinary } from './tarball.ts'

// A small service, bundled as docs/platforms.md says, without and with the code of graupel in the bundle.

const folder = temporaryFolder()
const project = join(folder, 'service')
const source = join(project, 'service.js')
const commonJsSource = join(project, 'service.cjs')
let native: string
/** The headers that the client reads in an answer of the id service. */
const headers = {
  'content-type': 'application/vnd.graupel.runs',
  'graupel-byte-order': 'little-endian',
  'graupel-layout': 'twitter',
}

beforeAll(() => {
  native = installWithBinary(project)
  const service = `
    const generator = createGenerator({ node: 7 })
    const distinct = new Set(generator.take(1000)).size
    const headers = ${JSON.stringify(headers)}
    const fetch = async () => new Response(new BigUint64Array([generator.next(), 0x1_0000_000an]), { headers })
    const { kind, file, reason } = engineInfo()
    connect({ url: 'http://service', count: 10, fetch }).then((ids) => {
      console.log(JSON.stringify({ distinct, fetched: ids.take(10).length, kind, file, reason }))
    })\n`
  writeFileSync(
    source,
    `import { createGenerator, engineInfo } from 'graupel'; import { connect } from 'graupel/client'${service}`,
  )
  writeFileSync(
    commonJsSource,
    `const { createGenerator, engineInfo } = require('graupel'); const { connect } = require('graupel/client')${service}`,
  )
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Bundles the service into a file, with graupel or without. */
type Bundler = (output: string, isInside: boolean) => Promise<unknown>

const bundlers: Record<string, [name: string, bundle: Bundler]> = {
  'esbuild, ES module': ['esbuild.mjs', bundleWithEsbuild('esm')],
  'esbuild, CommonJS': ['esbuild.cjs', bundleWithEsbuild('cjs')],
  'Vite, SSR': ['vite.mjs', bundleWithVite],
  'webpack, ES module': ['webpack.mjs', bundleWithWebpack('module')],
  'webpack, CommonJS': ['webpack.cjs', bundleWithWebpack('commonjs')],
  'esbuild, a service that requires': ['esbuild-required.cjs', bundleWithEsbuild('cjs', commonJsSource)],
  'webpack, a service that requires': ['webpack-required.cjs', bundleWithWebpack('commonjs', commonJsSource)],
}

describe.each(Object.entries(bundlers))('%s', (_, [name, bundle]) => {
  test('graupel is left out: the service runs natively', async () => {
    const output = join(project, `external-${name}`)
    await bundle(output, false)
    expectNative(output)
  })

  test('graupel is bundled: natively while the package is there, else on the TypeScript engine, with a warning', async () => {
    const output = join(project, 'out', `inside-${name}`)
    await bundle(output, true)
    expectNative(output)

    const aside = join(folder, 'aside')
    renameSync(packageFolder(project), aside)
    try {
      expectFallback([output])
    } finally {
      renameSync(aside, packageFolder(project))
    }
  })
})

test('a bundle whose version of graupel is not the installed version does not load the installed binary', async () => {
  const output = join(project, 'out', 'old.mjs')
  await bundleWithEsbuild('esm')(output, true)
  const manifest = join(packageFolder(project), 'package.json')
  copyFileSync(manifest, join(folder, 'manifest.json'))
  writeFileSync(manifest, JSON.stringify({ name: 'graupel', version: '99.0.0' }))
  const { stdout, stderr } = node(project, [output])
  copyFileSync(join(folder, 'manifest.json'), manifest)
  expect(stderr).toMatch(/the graupel in .* is version 99\.0\.0, and this is \d+\.\d+\.\d+/)
  expect(JSON.parse(stdout)).toMatchObject({ distinct: 1000, kind: 'js' })
})

test('a bundle without a file falls back', async () => {
  const output = join(project, 'out', 'text.cjs')
  await bundleWithEsbuild('cjs')(output, true)
  // The bundle is too long for an argument. It runs in a function, because `-e` has Node's modules in global
  // variables such as `fs`, and a minifier may use such a name for a variable.
  const program = `new Function(require('node:fs').readFileSync(${JSON.stringify(output)}, 'utf8'))()`
  expectFallback(['-e', program, 'argument'])
})

test.each(['https://example.test/service.mjs', 'data:text/javascript,', 'file://elsewhere/service.mjs'])(
  'a bundle whose URL is %s falls back',
  async (url) => {
    const output = join(folder, 'elsewhere.mjs')
    await esbuild({
      entryPoints: [source],
      outfile: output,
      bundle: true,
      platform: 'node',
      format: 'esm',
      define: { 'import.meta.url': JSON.stringify(url) },
    })
    expectFallback([output])
  },
)

describe('a page that uses kinds without keys', () => {
  // No peer is installed in the project, and a bundler resolves what it will drop.
  const program = `
    import { layouts } from 'graupel'
    import { defineKind, idSchema, uuidSchema } from 'graupel/kind'
    const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
    const valid = [idSchema(layouts.twitter), uuidSchema()].map((schema) => schema['~standard'].validate('5').issues === undefined)
    console.log(JSON.stringify([order.text(5n), ...valid]))`

  test.each<[string, (entry: string, output: string) => Promise<unknown>]>([
    [
      'esbuild',
      (entry, output) =>
        esbuild({ entryPoints: [entry], outfile: output, bundle: true, platform: 'browser', format: 'esm' }),
    ],
    [
      'Vite',
      (entry, output) =>
        vite({
          root: project,
          configFile: false,
          logLevel: 'error',
          build: {
            emptyOutDir: false,
            outDir: join(output, '..'),
            rollupOptions: { input: entry, output: { entryFileNames: basename(output) } },
          },
        }),
    ],
    ['webpack', (entry, output) => webpackOf({ context: project, entry, target: 'web', mode: 'production' }, output)],
  ])('needs no peer by %s', async (name, bundle) => {
    const entry = join(project, 'page.js')
    writeFileSync(entry, program)
    const output = join(project, 'out', `page-${name}.mjs`)
    await bundle(entry, output)
    const { stdout, stderr } = node(folder, [output])
    expect({ stdout, stderr }).toEqual({ stdout: '["ord_0000000000005",true,false]\n', stderr: '' })
  })
})

/** Expects the js engine, because the bundle runs in a folder from which the package is not found. */
function expectFallback(args: string[]): void {
  const { status, stdout, stderr } = node(folder, args)
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('[GRAUPEL_JS_ENGINE]') })
  expect(stderr).toContain('graupel is bundled, and its package, in which the binary is, cannot be found')
  expect(JSON.parse(stdout)).toMatchObject({ distinct: 1000, fetched: 10, kind: 'js' })
}

/** Starts a bundle from another folder, like a service. */
function expectNative(output: string): void {
  const { status, stdout, stderr } = node(folder, [output])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ distinct: 1000, fetched: 10, kind: 'native', file: native })
}

function bundleWithEsbuild(format: 'esm' | 'cjs', entry = source): Bundler {
  return async (output, isInside) => {
    const { warnings } = await esbuild({
      entryPoints: [entry],
      outfile: output,
      bundle: true,
      minify: true,
      platform: 'node',
      format,
      external: isInside ? [] : ['graupel'],
    })
    expect(warnings).toEqual([])
  }
}

function bundleWithVite(output: string, isInside: boolean): Promise<unknown> {
  return vite({
    root: project,
    configFile: false,
    logLevel: 'error',
    // By default Vite leaves packages out of the bundle.
    ssr: isInside ? { noExternal: true } : {},
    build: {
      ssr: source,
      minify: true,
      emptyOutDir: false,
      outDir: join(output, '..'),
      rollupOptions: { output: { entryFileNames: basename(output) } },
    },
  })
}

function bundleWithWebpack(type: 'module' | 'commonjs', entry = source): Bundler {
  return (output, isInside) =>
    webpackOf(
      {
        context: project,
        entry,
        target: 'node20',
        mode: 'production',
        output: type === 'module' ? { module: true } : {},
        experiments: { outputModule: type === 'module' },
        externals: isInside ? {} : { graupel: `${type} graupel`, 'graupel/client': `${type} graupel/client` },
      },
      output,
    )
}

function webpackOf(configuration: webpack.Configuration, file: string): Promise<void> {
  const output = { ...configuration.output, path: join(file, '..'), filename: basename(file) }
  return new Promise<void>((resolve, reject) => {
    webpack({ ...configuration, output }, (error, stats) => {
      if (error) reject(error)
      else if (stats === undefined || stats.hasErrors() || stats.hasWarnings()) reject(new Error(stats?.toString()))
      else resolve()
    })
  })
}
