import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Builds C++ programs and runs them, two jobs at a time.

export const here = fileURLToPath(new URL('.', import.meta.url))
export const native = join(here, '../../native')
/** The sources that compile without Node, by their paths below `native`. */
export const coreSources = ['core', 'host', 'platform'].flatMap((room) =>
  readdirSync(join(native, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.cc'))
    .map((file) => join(room, file)),
)
const compiler = process.env['CXX'] ?? 'c++'
/** The folder for the products of a test file; `removeFolder` removes it. */
export const folder = mkdtempSync(join(tmpdir(), 'graupel-native-'))
/** The time limit of one command. */
const commandTimeout = 300_000
/** The time limit of a test, which may have to wait for the commands of other tests. */
export const timeout = 4 * commandTimeout

export const removeFolder = () => rm(folder, { recursive: true, force: true })

const configurations = {
  'address and undefined behaviour sanitizers': [
    ...['-O1', '-g', '-fno-omit-frame-pointer', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'],
  ],
  'thread sanitizer': ['-O1', '-g', '-fsanitize=thread'],
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

/** Programs and libraries have the same flags, because precompiled headers demand it. */
async function flagsOf(configuration: Configuration): Promise<string[]> {
  const library = ['-fPIC', '-fvisibility=hidden', ...(await unloadable())]
  return ['-std=c++20', '-pthread', ...library, ...configurations[configuration]]
}

const standardHeaders = [
  ...['algorithm', 'atomic', 'chrono', 'condition_variable', 'cstring', 'functional', 'map', 'memory', 'mutex'],
  ...['random', 'set', 'string', 'thread', 'unordered_map', 'vector'],
]

/**
 * Precompiles the standard headers once, which saves a third of the time of most files. Returns the flags
 * that use them.
 */
async function precompiled(configuration: Configuration): Promise<string[]> {
  if (await isClang()) return []
  const header = join(folder, `standard-${numberOf(configuration)}.h`)
  await once(`${header}.gch`, async () => {
    await writeFile(header, standardHeaders.map((name) => `#include <${name}>\n`).join(''))
    await job(compiler, [...(await flagsOf(configuration)), '-x', 'c++-header', header, '-o', `${header}.gch`])
  })
  return ['-include', header]
}

/** Compiles one program from `from` once, and returns its path. */
export function build(
  name: string,
  configuration: Configuration,
  more: readonly string[] = [],
  from = here,
): Promise<string> {
  const source = join(from, `${name}.cc`)
  const program = join(from === here ? folder : from, `${name}-${numberOf(configuration)}`)
  return once(program, async () => {
    const flags = [...(await flagsOf(configuration)), ...(await precompiled(configuration))]
    await job(compiler, [...flags, source, ...more, '-o', program])
  })
}

/** Compiles the sources without Node, once for all programs of a configuration. */
export async function coreObjects(configuration: Configuration): Promise<string[]> {
  const flags = [...(await flagsOf(configuration)), ...(await precompiled(configuration))]
  return Promise.all(
    coreSources.map((source) => {
      const object = join(folder, `${basename(source, '.cc')}-${numberOf(configuration)}.o`)
      return once(object, () => job(compiler, [...flags, '-c', join(native, source), '-o', object]))
    }),
  )
}

/** Runs a program and returns its output. @throws Error with all output unless the program exits with 0. */
export async function run(program: string, args: readonly string[] = []): Promise<string> {
  try {
    return await job(program, args)
  } catch (error) {
    // Kernels that scatter memory more widely than the sanitizer knows:
    // https://github.com/google/sanitizers/issues/1614
    if (!`${error}`.includes('unexpected memory mapping')) throw error
    return await job('setarch', ['-R', program, ...args])
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
async function job(command: string, args: readonly string[]): Promise<string> {
  if (jobs === maxJobs) await new Promise<void>((resolve) => waiting.push(resolve))
  else jobs++
  try {
    return await new Promise((resolve, reject) => {
      const env = { ...process.env, ASAN_OPTIONS: 'detect_stack_use_after_return=1', TSAN_OPTIONS: 'halt_on_error=1' }
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
