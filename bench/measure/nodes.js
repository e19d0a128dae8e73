import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { npmNode } from '../../scripts/npm-binary.js'

/**
 * Other versions of Node, from the npm registry, where each platform's binary is a package of its own.
 *
 * @param {readonly string[]} versions - As npm takes them, such as `22`.
 * @returns {{ file: string, version: string }[]}
 */
export function installNodes(versions) {
  return versions.map((wanted) => {
    const file = npmNode(wanted)
    return { file, version: execFileSync(file, ['--version'], { encoding: 'utf8' }).trim() }
  })
}

/** What `--rivals` needs, exactly as its lockfile has it. */
export function installRivals() {
  const cwd = fileURLToPath(new URL('../rivals/', import.meta.url))
  console.error('  npm ci')
  const command = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', command, { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
}
