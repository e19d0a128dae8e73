import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../nodes/', import.meta.url))

/**
 * Other versions of Node, from the npm registry, where each platform's binary is a package of its own.
 *
 * @param {readonly string[]} versions - As npm takes them, such as `22`.
 * @returns {{ file: string, version: string }[]}
 */
export function installNodes(versions) {
  return versions.map((wanted) => {
    const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
    const place = join(folder, wanted)
    const file = join(place, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    if (!existsSync(file)) {
      mkdirSync(place, { recursive: true })
      writeFileSync(join(place, 'package.json'), '{ "private": true }\n')
      npm(place, 'install', '--ignore-scripts', '--no-save', `${name}@${wanted}`)
    }
    return { file, version: execFileSync(file, ['--version'], { encoding: 'utf8' }).trim() }
  })
}

/** What `--rivals` needs, exactly as its lockfile has it. */
export function installRivals() {
  npm(fileURLToPath(new URL('../rivals/', import.meta.url)), 'ci', '--ignore-scripts')
}

/**
 * @param {string} cwd
 * @param {string[]} parameters
 */
function npm(cwd, ...parameters) {
  const command = [...parameters, '--no-audit', '--no-fund']
  console.error(`  npm ${command.join(' ')}`)
  execFileSync('npm', command, { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
}
