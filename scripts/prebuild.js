// Makes the binary of this platform as it is published, `npm run prebuild`: compiled by the system's own compiler,
// stripped, named after its C library on Linux, and loaded once. For Linux it is `npm run prebuild:cross` that makes what
// is published: a compiler links with the glibc that is installed, and the binary then asks for one that is as new.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { headersOfThisNode } from './node-headers.js'
import { isHookOf } from './npm-hook.js'
import { ownTarget } from './targets.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
if (isHookOf('build')) process.exit(0)

const out = outOption()
const target = ownTarget()
if (target === undefined) {
  fail(`no binary is published for ${process.platform} ${process.arch}; build from source: npm run build`, 1)
}

// A copy, because prebuildify takes the binary from where a developer's own is.
mkdirSync(join(root, 'build'), { recursive: true })
const staging = mkdtempSync(join(root, 'build/prebuild-'))
const status = prebuild(target)
rmSync(staging, { recursive: true, force: true })
// The compiler has said why.
if (status !== 0) fail('the compilation failed, see above', 1)

const file = join(out, 'prebuilds', target.folder, target.file)
const load = `if (typeof require(process.argv[1]).next !== 'function') throw new Error('it is another binary')`
if (spawnSync(process.execPath, ['-e', load, file], { stdio: 'inherit' }).status !== 0) fail(`${file} does not load`, 1)
console.log(`${file}: ${Math.ceil(statSync(file).size / 1024)} KiB, loads`)

function outOption() {
  try {
    return resolve(parseArgs({ options: { out: { type: 'string', default: root } } }).values.out)
  } catch (error) {
    return fail(`${/** @type {Error} */ (error).message}\nusage: npm run prebuild [-- --out FOLDER]`, 2)
  }
}

/** @param {import('./targets.js').Target} target */
function prebuild({ libc }) {
  for (const name of ['binding.gyp', 'native']) {
    cpSync(join(root, name), join(staging, name), { recursive: true })
  }
  const prebuildify = createRequire(import.meta.url).resolve('prebuildify/bin.js')
  const names = ['--name=graupel', ...(libc ? [`--tag-libc=${libc}`] : [])]
  const args = ['--napi', '--strip', `--target=${process.versions.node}`, ...names, `--cwd=${staging}`, `--out=${out}`]
  // For node-gyp, which prebuildify starts and tells nothing of these.
  const headers = headersOfThisNode()
  const env = { JOBS: 'max', ...process.env, ...(headers && { npm_config_nodedir: headers }) }
  return spawnSync(process.execPath, [prebuildify, ...args], { stdio: 'inherit', env }).status
}

/** @param {string} message @param {number} code @returns {never} */
function fail(message, code) {
  console.error(message)
  process.exit(code)
}
