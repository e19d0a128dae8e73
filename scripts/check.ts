// Runs the checks of the sources that `npm run check` has beside Biome, as many at once as there are
// processors, and prints what the failed ones say.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { build, partNames } from './build.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

// By path: node_modules/.bin/tsc is that of another package, an older and four times slower TypeScript.
const tsc = 'node_modules/typescript/bin/tsc'
const tsx = 'node_modules/tsx/dist/cli.mjs'

/** The slow checks come first. */
const checks = [
  [tsc, '-p', 'test'],
  [tsc, '-p', 'server'],
  [tsc, '-p', 'web'],
  [tsc, '-p', 'scripts/docs'],
  [tsx, 'scripts/check-package.ts'],
  [tsx, 'scripts/docs/reference.ts', '--check'],
  ['node_modules/knip/bin/knip.js'],
  [tsx, 'scripts/check-workflows.ts'],
  [tsx, 'scripts/check-imports.ts'],
  [tsx, 'scripts/check-comments.ts'],
]

/** Resolves to what the check printed if it has failed. */
async function failureOf(words: readonly string[]): Promise<string | undefined> {
  const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const parts: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => parts.push(part))
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  if (status === 0) return undefined
  return `${words.join(' ')} (exit code ${status}):\n${Buffer.concat(parts)}`
}

await build(...partNames)
const waiting = checks.values()
const workers = Array.from({ length: availableParallelism() }, async () => {
  for (const words of waiting) {
    const failure = await failureOf(words)
    if (failure === undefined) continue
    console.error(failure)
    process.exitCode = 1
  }
})
await Promise.all(workers)
if (process.exitCode === undefined) console.info(`${checks.length} checks passed`)
