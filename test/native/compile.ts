import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Builds C++ programs and runs them, two jobs at a time.

export const here = fileURLToPath(new URL('.', import.meta.url))
export const core = join(here, '../../native/core')
export const coreSources = readdirSync(core)
  .filter((file) => file.endsWith('.cc'))
  .map((file) => join(core, file))
const compiler = process.env['CXX'] ?? 'c++'
/** For whatever a test file makes; removed by `removeFolder`. */
export const folder = mkdtempSync(join(tmpdir(), 'graupel-native-'))
export const timeout = 300_000

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
export const plain = 'all warnings, neither exceptions nor RTTI'

const builds = new Map<string, Promise<string>>()

/** Compiles one program from `from`, once; its path. */
export function build(
  name: string,
  configuration: Configuration,
  more: readonly string[] = [],
  from = here,
): Promise<string> {
  const source = join(from, `${name}.cc`)
  const program = join(from === here ? folder : from, `${name}-${Object.keys(configurations).indexOf(configuration)}`)
  const flags = ['-std=c++20', '-pthread', ...configurations[configuration]]
  let built = builds.get(program)
  if (built === undefined) {
    built = job(compiler, [...flags, source, ...more, '-o', program]).then(() => program)
    builds.set(program, built)
  }
  return built
}

/** Runs a program; its output. @throws Error with all output unless it exits with 0. */
export async function run(program: string, args: readonly string[] = []): Promise<string> {
  try {
    return await job(program, args)
  } catch (error) {
    // Kernels that scatter memory more widely than the sanitizer knows: https://github.com/google/sanitizers/issues/1614
    if (!`${error}`.includes('unexpected memory mapping')) throw error
    return await job('setarch', ['-R', program, ...args])
  }
}

const probes = new Map<Configuration, Promise<string | undefined>>()

/** Why a configuration cannot be built here, if so. */
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
  const source = join(folder, `probe-${Object.keys(configurations).indexOf(configuration)}.cc`)
  await writeFile(source, 'int main() {}\n')
  try {
    await job(compiler, ['-std=c++20', ...configurations[configuration], source, '-o', `${source}.out`])
    return undefined
  } catch (error) {
    const reason = `${compiler} cannot build with ${configuration}; install g++, or set CXX: ${error}`
    // The usual reporter only counts what is skipped.
    console.warn(reason)
    return reason
  }
}

export async function isGcc(): Promise<boolean> {
  return !(await job(compiler, ['--version'])).includes('clang')
}

const mostJobs = 2
let jobs = 0
const waiting: (() => void)[] = []

/** Runs a command when there is room for it; its standard output. @throws Error with all output unless it exits with 0. */
async function job(command: string, args: readonly string[]): Promise<string> {
  if (jobs === mostJobs) await new Promise<void>((resolve) => waiting.push(resolve))
  else jobs++
  try {
    return await new Promise((resolve, reject) => {
      const env = { ...process.env, ASAN_OPTIONS: 'detect_stack_use_after_return=1', TSAN_OPTIONS: 'halt_on_error=1' }
      execFile(command, args, { env, timeout, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
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
