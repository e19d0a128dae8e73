import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { headersOfThisNode } from '../../src/cli/build.ts'

// Builds C++ programs and runs them, two jobs at a time.

export const here = fileURLToPath(new URL('.', import.meta.url))
export const native = join(here, '../../native')
/** The sources that compile without Node, by their paths below `native`. */
const coreSources = ['core', 'host', 'platform'].flatMap((room) =>
  readdirSync(join(native, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.cc'))
    .map((file) => join(room, file)),
)
const compiler = process.env['CXX'] ?? 'c++'
/** The folder for the products of a test file; `removeFolder` removes it. */
export const folder = mkdtempSync(join(tmpdir(), 'graupel-native-'))
/**
 * The time limit of one command. It is only for a command that hangs; a busy machine takes minutes to
 * compile.
 */
const commandTimeout = 1_800_000
/** The time limit of a test, which may have to wait for the commands of other tests. */
export const timeout = 2 * commandTimeout

export const removeFolder = () => rm(folder, { recursive: true, force: true })

const configurations = {
  'address and undefined behaviour sanitizers': [
    ...['-O1', '-g1', '-fno-omit-frame-pointer', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'],
  ],
  'thread sanitizer': ['-O1', '-g1', '-fsanitize=thread'],
  'all warnings, neither exceptions nor RTTI': [
    ...['-O3', '-Wall', '-Wextra', '-Werror', '-fno-exceptions', '-fno-rtti'],
  ],
  'few optimisations': ['-O1'],
} as const
export type Configuration = keyof typeof configurations
export const withoutExceptions = 'all warnings, neither exceptions nor RTTI'
export const sanitizers = {
  address: 'address and undefined behaviour sanitizers',
  thread: 'thread sanitizer',
} as const satisfies Record<string, Configuration>

const made = new Map<string, Promise<string>>()

/** Makes the file of each name once. */
function once(name: string, make: () => Promise<unknown>): Promise<string> {
  let file = made.get(name)
  if (file === undefined) {
    file = make().then(() => name)
    made.set(name, file)
  }
  return file
}

const numberOf = (configuration: Configuration) => Object.keys(configurations).indexOf(configuration)

/** Programs and libraries have the same flags, because they share objects. */
async function flagsOf(configuration: Configuration): Promise<string[]> {
  const library = ['-fPIC', '-fvisibility=hidden', ...(await unloadable())]
  return ['-std=c++20', '-pthread', ...library, ...configurations[configuration]]
}

/** Sources and tests, and the folder for what is built of them. */
export interface Tree {
  /** Has the folders native and test/native. */
  readonly root: string
  readonly products: string
  readonly flags: readonly string[]
}
const repository: Tree = { root: join(here, '../..'), products: folder, flags: [] }

/**
 * Compiles C++ files as one, so the compiler reads each header once. Two files must not define the same name,
 * not even in anonymous namespaces.
 */
export function object(
  name: string,
  configuration: Configuration,
  files: readonly string[],
  more: readonly string[] = [],
  { root, products, flags } = repository,
): Promise<string> {
  const source = join(products, `${name}-${numberOf(configuration)}.cc`)
  return once(`${source}.o`, async () => {
    await writeFile(source, files.map((file) => `#include "${join(root, file)}"\n`).join(''))
    const all = [...(await flagsOf(configuration)), ...flags, ...more]
    await job(compiler, [...all, '-c', source, '-o', `${source}.o`])
  })
}

/** Links a program or a library. */
export function link(
  name: string,
  configuration: Configuration,
  objects: readonly string[],
  more: readonly string[] = [],
  { products } = repository,
): Promise<string> {
  const program = join(products, `${name}-${numberOf(configuration)}`)
  return once(program, async () =>
    job(compiler, [...(await flagsOf(configuration)), ...objects, ...more, '-o', program]),
  )
}

/** The sources that compile without Node, as one object. */
export function coreObject(configuration: Configuration, tree = repository): Promise<string> {
  return object(
    'sources',
    configuration,
    coreSources.map((file) => join('native', file)),
    [],
    tree,
  )
}

/** The programs, and the tests of each. The first argument of a program names a test. */
const programs = {
  /** Needs no operating system. */
  core: ['layout', 'uuid', 'views', 'observed', 'reserve', 'bounds', 'clock', 'fuzz', 'threads'],
  /** Pages and files, by real processes. */
  pages: ['files', 'users', 'home', 'deletion'],
  /** Replaces std::atomic, so it cannot be linked with the other tests. */
  models: ['interleave', 'ceiling'],
  /** The tests of `core` and `pages` that find the defects of mutations.ts. */
  mutants: ['uuid', 'views', 'observed', 'users', 'home', 'deletion'],
} as const
export type Program = keyof typeof programs

/** Builds a program once, and returns its path. */
export async function build(name: Program, configuration: Configuration, tree = repository): Promise<string> {
  const files = ['main.cc', ...programs[name].map((test) => `${test}_test.cc`)].map((file) => `test/native/${file}`)
  if (name === 'core') files.push('native/core/clock.cc')
  const objects = [object(name, configuration, files, [], tree)]
  if (name === 'pages' || name === 'mutants') objects.push(coreObject(configuration, tree))
  return link(name, configuration, await Promise.all(objects), [], tree)
}

/** Returns the folder of Node's headers: the folder in npm's options, or that of this Node, if it has one. */
export const nodeFolder = (): string | undefined => process.env['npm_config_nodedir'] ?? headersOfThisNode()

/** Builds native/binding without Node. Returns its path. @param node - As {@link nodeFolder} returns it. */
export async function buildBinding(configuration: Configuration, node: string, tree = repository): Promise<string> {
  const files = readdirSync(join(native, 'binding')).filter(
    (file) => file.endsWith('.cc') && file !== 'no_demangler.cc',
  )
  const sources = files.map((file) => `native/binding/${file}`)
  const tests = ['test/native/main.cc', 'test/native/binding_test.cc']
  const headers = [join(node, 'include/node'), join(native, '../node_modules/node-addon-api')]
  const defines = [
    ...['NAPI_VERSION=8', 'NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS', 'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS'],
  ]
  const flags = [...headers.flatMap((folder) => ['-isystem', folder]), ...defines.map((define) => `-D${define}`)]
  const objects = [
    object('binding', configuration, sources, flags, tree),
    object('binding_test', configuration, tests, flags, tree),
    coreObject(configuration, tree),
  ]
  return link('binding', configuration, await Promise.all(objects), [], tree)
}

/** Runs a program and returns its output. @throws Error with all output unless the program exits with 0. */
export async function run(program: string, args: readonly string[] = [], variables = {}): Promise<string> {
  try {
    return await job(program, args, variables)
  } catch (error) {
    // Kernels that scatter memory more widely than the sanitizer knows:
    // https://github.com/google/sanitizers/issues/1614
    if (!`${error}`.includes('unexpected memory mapping')) throw error
    return await job('setarch', ['-R', program, ...args], variables)
  }
}

const probes = new Map<Configuration, Promise<string | undefined>>()

/** Returns the reason why a configuration cannot be built here, or `undefined`. */
export function whyNot(configuration: Configuration): Promise<string | undefined> {
  let probe = probes.get(configuration)
  if (probe === undefined) {
    probe = tryCompiler(configuration)
    probes.set(configuration, probe)
  }
  return probe
}

async function tryCompiler(configuration: Configuration): Promise<string | undefined> {
  if (process.platform === 'win32') return 'these tests need a compiler with the options of GCC and Clang'
  const source = join(folder, `probe-${numberOf(configuration)}.cc`)
  await writeFile(source, 'int main() {}\n')
  try {
    await job(compiler, [...(await flagsOf(configuration)), source, '-o', `${source}.out`])
    return undefined
  } catch (error) {
    const reason = `${compiler} cannot build with ${configuration}; install g++, or set CXX: ${error}`
    // The usual reporter only counts skipped tests.
    console.warn(reason)
    return reason
  }
}

/** Without this flag, GCC marks a library as impossible to unload. */
async function unloadable(): Promise<string[]> {
  return (await isClang()) ? [] : ['-fno-gnu-unique']
}

let clang: Promise<boolean> | undefined
function isClang(): Promise<boolean> {
  clang ??= job(compiler, ['--version']).then((text) => text.includes('clang'))
  return clang
}

const maxJobs = 2
let jobs = 0
const waiting: (() => void)[] = []

/**
 * Runs a command when there is room for it, and returns its standard output. @throws Error with all output
 * unless it exits with 0.
 */
async function job(command: string, args: readonly string[], variables = {}): Promise<string> {
  if (jobs === maxJobs) await new Promise<void>((resolve) => waiting.push(resolve))
  else jobs++
  try {
    return await new Promise((resolve, reject) => {
      const sanitizers = { ASAN_OPTIONS: 'detect_stack_use_after_return=1', TSAN_OPTIONS: 'halt_on_error=1' }
      const env = { ...process.env, ...sanitizers, ...variables }
      execFile(command, args, { env, timeout: commandTimeout, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(`${[command, ...args].join(' ')}: ${error.code ?? error.signal}\n${stdout}${stderr}`))
      })
    })
  } finally {
    const next = waiting.shift()
    if (next === undefined) jobs--
    else next()
  }
}
