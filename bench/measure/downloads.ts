import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { npmNode } from '../../scripts/npm-binary.ts'

/** Other versions of Node from the npm registry, as npm takes them, such as `22`. */
export function installNodes(versions: readonly string[]) {
  return versions.map((wanted) => {
    if (!/^\d+(\.\d+)*$/.test(wanted)) throw new Error(`'${wanted}' is no version of Node, such as 22 or 22.12.0`)
    const file = npmNode(wanted)
    return { file, version: execFileSync(file, ['--version'], { encoding: 'utf8' }).trim() }
  })
}

/** What `--rivals` needs, as its lockfile has it. */
export function installRivals() {
  const cwd = fileURLToPath(new URL('../rivals/', import.meta.url))
  console.error('  npm ci')
  const command = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', command, { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
}
