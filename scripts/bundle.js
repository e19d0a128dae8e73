// Joins the modules that an import of the package loads into one file each, in place, after tsc has made them: loading
// some thirty small modules takes Node three times as long as running them. The modules stay beside, for the command
// line, for the declarations, and for tests that look inside.
import { readFileSync } from 'node:fs'
import { build } from 'esbuild'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const entries = ['index.js', 'platform/node.js', 'platform/browser.js']

for (const entry of entries) {
  await build({
    entryPoints: [`dist/${entry}`],
    outfile: `dist/${entry}`,
    allowOverwrite: true,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    define: { packageVersion: JSON.stringify(version) },
    // Chosen by whoever loads the package: Node, or a bundler for browsers.
    external: ['#platform'],
    logLevel: 'warning',
  })
}
