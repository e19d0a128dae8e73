// Run after tsc: makes what an import or a require() of the package loads, and the command line, in place. The modules that tsc
// made stay beside them, for tests.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

// What the package's `exports` and `imports` name.
const entries = [
  'index',
  'client/index',
  'lease/index',
  'mask/index',
  'segments/index',
  'stores/consul',
  'stores/etcd',
  'stores/index',
  'stores/kubernetes',
  'stores/memory',
  'stores/mysql',
  'stores/postgres',
  'stores/redis',
  'stores/sqlite',
  'stores/testing',
  'stores/url/index',
  'stores/zookeeper',
  'testing/index',
  'platform/node',
  'platform/browser',
]

// First: it takes the modules that tsc made, which entries are about to replace.
await build({
  entryPoints: ['dist/cli/main.js'],
  outfile: 'dist/cli/main.js',
  allowOverwrite: true,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  platform: 'node',
  define: { packageVersion: JSON.stringify(version) },
  // The mask imports a package that may not be installed: it is loaded when it is needed.
  external: ['#platform', './dist/mask/index.js'],
  logLevel: 'warning',
})

const formats = ['cjs', 'esm'] as const
type Format = (typeof formats)[number]

/** What both forms have in common. */
function optionsOf(format: Format) {
  return {
    outExtension: { '.js': format === 'cjs' ? '.cjs' : '.js' },
    allowOverwrite: true,
    bundle: true,
    format,
    target: 'es2022',
    platform: 'neutral',
    define: {
      packageVersion: JSON.stringify(version),
      // CommonJS has `__filename` instead, and src/platform/binary.ts asks for either.
      ...(format === 'cjs' && { 'import.meta.url': 'undefined' }),
    },
    logLevel: 'warning',
  } as const
}

// What Node takes for `graupel`: the main entry with the code for Node in it. To look `#platform` up and load one more module takes
// Node 3 ms, a fifth of the time to the first id. Also before the entries are replaced.
for (const format of formats) {
  await build({
    ...optionsOf(format),
    entryPoints: ['dist/index.js'],
    outdir: 'dist/node',
    alias: { '#platform': './dist/platform/node.js' },
  })
}

// One file for each entry and form: loading some thirty small modules takes Node three times as long as running them. What two
// entries have in common is in both of them.
for (const format of formats) {
  await build({
    ...optionsOf(format),
    entryPoints: entries.map((entry) => `dist/${entry}.js`),
    outdir: 'dist',
    outbase: 'dist',
    // Its conditions in package.json choose between Node and browsers. The package is the user's. Only stores by their URLs import
    // modules of Node, which check-imports.ts sees to.
    external: ['#platform', '@noble/ciphers', 'node:*'],
  })
}

// The service tells by the same rule what was meant. It is no part of the library that it could import.
mkdirSync('server/dist', { recursive: true })
for (const file of ['suggestion.js', 'suggestion.d.ts']) copyFileSync(`dist/core/${file}`, `server/dist/${file}`)

// The declarations are CommonJS's, because ES modules can take theirs from CommonJS, and not the other way round. There is
// one set of them, so that a layout of one form has the type that the other form asks for.
for (const file of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.d.ts') || /^(cli|host|inspect|platform)\b/.test(file)) continue
  const text = readFileSync(join('dist', file), 'utf8')
  writeFileSync(join('dist', file.replace(/ts$/, 'cts')), text.replace(/(?<=['"]\.[^'"\n]*)\.js(?=['"])/g, '.cjs'))
  writeFileSync(join('dist', file), `export * from './${basename(file, '.d.ts')}.cjs'\n`)
}
