// Makes the binary of this platform as it is published, `npm run prebuild`: compiled by the system's own compiler,
// stripped, named after its C library on Linux, and loaded once. For Linux it is `npm run prebuild:cross` that makes what
// is published: a compiler links with the glibc that is installed, and the binary then asks for one that is as new.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { headersOfThisNode } from './node-headers.js'
import { isHookOf } from './npm-hook.js'
import { ownTarget } from './targets.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
// A copy, because prebuildify takes the binary from where a developer's own is.
const staging = join(root, 'build/prebuild')

if (isHookOf('build')) process.exit(0)

const { values } = parseArgs({ options: { out: { type: 'string', default: root } } })
const target = ownTarget()
if (target === undefined) {
  console.error(`no binary is published for ${process.platform} ${process.arch}; build from source: npm run build`)
  process.exit(1)
}

rmSync(staging, { recursive: true, force: true })
mkdirSync(staging, { recursive: true })
try {
  for (const name of ['binding.gyp', 'native', 'scripts/addon-include.js']) {
    cpSync(join(root, name), join(staging, name), { recursive: true })
  }
  // For node-gyp, which prebuildify starts and tells nothing of it.
  process.env['JOBS'] ??= 'max'
  const headers = headersOfThisNode()
  if (headers !== undefined) process.env['npm_config_nodedir'] = headers
  const prebuildify = createRequire(import.meta.url).resolve('prebuildify/bin.js')
  const names = ['--name=graupel', ...(target.libc ? [`--tag-libc=${target.libc}`] : [])]
  const folders = [`--cwd=${staging}`, `--out=${resolve(values.out)}`]
  const args = ['--napi', '--strip', `--target=${process.versions.node}`, ...names, ...folders]
  execFileSync(process.execPath, [prebuildify, ...args], { stdio: 'inherit' })
} finally {
  rmSync(staging, { recursive: true, force: true })
}

const file = join(resolve(values.out), 'prebuilds', target.folder, target.file)
const load = `if (typeof require(process.argv[1]).next !== 'function') throw new Error('it is another binary')`
execFileSync(process.execPath, ['-e', load, file], { stdio: 'inherit' })
console.log(`${file}: ${Math.ceil(statSync(file).size / 1024)} KiB, loads`)
