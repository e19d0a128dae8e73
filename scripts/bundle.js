// What an import or a require() of the package loads, made in place after tsc. The modules that tsc made stay beside, for
// the command line, and for tests that look inside.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

// One file for each entry and form: loading some thirty small modules takes Node three times as long as running them.
for (const entry of ['index', 'platform/node', 'platform/browser']) {
  for (const [format, extension] of /** @type {const} */ ([
    ['cjs', 'cjs'],
    ['esm', 'js'],
  ])) {
    await build({
      entryPoints: [`dist/${entry}.js`],
      outfile: `dist/${entry}.${extension}`,
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
      // Its conditions in package.json choose between Node and browsers.
      external: ['#platform'],
      logLevel: 'warning',
    })
  }
}

// The declarations are CommonJS's, because ES modules can take theirs from CommonJS, and not the other way round. There is
// one set of them, so that a layout of one form has the type that the other form asks for.
for (const file of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.d.ts') || /^(cli|platform)\b/.test(file)) continue
  const text = readFileSync(join('dist', file), 'utf8')
  writeFileSync(join('dist', file.replace(/ts$/, 'cts')), text.replace(/(?<=['"]\.[^'"\n]*)\.js(?=['"])/g, '.cjs'))
  writeFileSync(join('dist', file), `export * from './${basename(file, '.d.ts')}.cjs'\n`)
}
