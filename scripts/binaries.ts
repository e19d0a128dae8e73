// Makes the binary of this platform as it is published (`npm run binaries`): compiled by the system's own
// compiler, stripped, named after its C library on Linux, and loaded once. The published binaries for Linux
// come from `npx tsx scripts/cross/build.ts`, because the system's compiler links with the installed glibc,
// and the binary would need a glibc as new as that.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { headersOfThisNode } from '../src/cli/build.ts'
import { ownTarget, type Target } from './targets.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

// Ctrl-C ends the compilers, too; their files are removed here.
process.on('SIGINT', () => {})

const out = outOption()
const target = ownTarget()
if (target === undefined) {
  fail(`no binary is published for ${process.platform} ${process.arch}; build from source: npm run build`, 1)
}
// The compiler has printed the reason.
if ((await compile(target)) !== 0) fail('the compilation failed, see above', 1)

const file = join(out, pathOf(target))
const load = `if (typeof require(process.argv[1]).next !== 'function') throw new Error('it is another binary')`
if (spawnSync(process.execPath, ['-e', load, file], { stdio: 'inherit' }).status !== 0) fail(`${file} does not load`, 1)
console.log(`${file}: ${Math.ceil(statSync(file).size / 1024)} KiB, loads`)

function outOption(): string {
  try {
    return resolve(parseArgs({ options: { out: { type: 'string', default: root } } }).values.out)
  } catch (error) {
    return fail(`${(error as Error).message}\nusage: npm run binaries [-- --out FOLDER]`, 2)
  }
}

function pathOf({ folder, file }: Target): string {
  return join('prebuilds', folder, file)
}

/** Compiles a copy of the sources, because prebuildify would take the binary that a developer has built. */
async function compile(target: Target): Promise<number | null> {
  mkdirSync(join(root, 'build'), { recursive: true })
  const staging = mkdtempSync(join(root, 'build/binaries-'))
  try {
    for (const name of ['binding.gyp', 'native', 'node_modules/node-addon-api']) {
      cpSync(join(root, name), join(staging, name), { recursive: true })
    }
    const prebuildify = createRequire(import.meta.url).resolve('prebuildify/bin.js')
    const names = ['--name=graupel', ...(target.libc ? [`--tag-libc=${target.libc}`] : [])]
    const args = ['--napi', '--strip', `--target=${process.versions.node}`, ...names, `--cwd=${staging}`]
    // prebuildify starts node-gyp, and passes these on only by the environment.
    const headers = headersOfThisNode()
    const env = { JOBS: 'max', ...process.env, ...(headers && { npm_config_nodedir: headers }) }
    const [code] = await once(spawn(process.execPath, [prebuildify, ...args], { stdio: 'inherit', env }), 'close')
    // Copied, because prebuildify renames the binary, which fails if its `--out` is on another file system.
    if (code === 0) cpSync(join(staging, pathOf(target)), join(out, pathOf(target)))
    return code
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

function fail(message: string, code: number): never {
  console.error(message)
  process.exit(code)
}
