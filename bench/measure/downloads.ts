import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { npmNode } from '../../scripts/npm-binary.ts'

/** Installs versions of Node from the npm registry, given as npm takes them, such as `22`. */
export function installNodes(versions: readonly string[]) {
  return versions.map((wanted) => {
    if (!/^\d+(\.\d+)*$/.test(wanted)) throw new Error(`'${wanted}' is no version of Node, such as 22 or 22.12.0`)
    const file = npmNode(wanted)
    return { file, version: execFileSync(file, ['--version'], { encoding: 'utf8' }).trim() }
  })
}

/** Installs the other packages from the lockfile of bench/rivals. */
export function installRivals() {
  const cwd = fileURLToPath(new URL('../rivals/', import.meta.url))
  console.error('  npm ci')
  const command = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', command, { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
}
