import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { copyFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, type ExpectStatic, it } from 'vitest'
import { SteadyTime } from '../../src/engine/steady.js'

// Builds the programs beside this file with the real headers and sources of native/core, and runs them.

const here = fileURLToPath(new URL('.', import.meta.url))
const core = join(here, '../../native/core')
const coreSources = readdirSync(core)
  .filter((file) => file.endsWith('.cc'))
  .map((file) => join(core, file))
const compiler = process.env['CXX'] ?? 'c++'
const folder = mkdtempSync(join(tmpdir(), 'graupel-native-'))
const timeout = 300_000

const configurations = {
  'address and undefined behaviour sanitizers': [
    ...['-O1', '-g', '-fno-omit-frame-pointer', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'],
  ],
  'thread sanitizer': ['-O1', '-g', '-fsanitize=thread'],
  'all warnings, neither exceptions nor RTTI': [
    ...['-O3', '-Wall', '-Wextra', '-Werror', '-fno-exceptions', '-fno-rtti'],
  ],
} as const
type Configuration = keyof typeof configurations
const plain = 'all warnings, neither exceptions nor RTTI'

afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each(Object.keys(configurations) as Configuration[])('native/core with %s', (configuration) => {
  const isPlain = configuration === plain
  const isThread = configuration === 'thread sanitizer'

  /** A test that needs the compiler; they run beside each other, two jobs at a time. */
  const proves = (behaviour: string, prove: (expect: ExpectStatic) => Promise<void>) =>
    it.concurrent(behaviour, { timeout }, async ({ expect, skip }) => {
      const reason = await whyNot(configuration)
      if (reason !== undefined) {
        // What nobody looks at must not pass by being skipped.
        if (process.env['CI'] && process.platform !== 'win32') throw new Error(reason)
        skip(reason)
      }
      await prove(expect)
    })

  proves('reserves, leases and reuses as said, up to the last slot', async () => {
    await run(await build('reserve_test', configuration))
  })

  proves('agrees with a model of it on random operations', async () => {
    await run(await build('fuzz_test', configuration), ['--iterations', isPlain ? '3000' : isThread ? '20' : '400'])
  })

  proves('never makes an id twice in threads whose clocks step back and forth', async () => {
    const rounds = isPlain ? '1600' : isThread ? '160' : '400'
    await run(await build('threads_test', configuration), ['--rounds', rounds])
  })

  proves('never makes an id twice in any interleaving with few preemptions', async () => {
    const program = await build('interleave_test', configuration)
    await run(program, ['--preemptions', isPlain ? '2' : '1'])
  })

  proves('has clocks that do not go back', async () => {
    await run(await build('clock_test', configuration, [join(core, 'clock.cc')]))
  })

  proves('counts with one word in two copies of the module, also after both were closed', async () => {
    // GCC would otherwise mark the library as one that cannot be unloaded.
    const unloadable = (await isGcc()) ? ['-fno-gnu-unique'] : []
    const shared = ['-shared', '-fPIC', '-fvisibility=hidden', ...unloadable]
    const first = await build('copies_library', configuration, [...coreSources, ...shared])
    const second = `${first}-second`
    await copyFile(first, second)
    const program = await build('copies_test', configuration, process.platform === 'linux' ? ['-ldl'] : [])
    for (const part of ['share', 'outlive']) await run(program, [part, first, second])
  })

  if (!isPlain) return

  proves('has the steady clock that the TypeScript engine has', async (expect) => {
    const program = await build('clock_test', configuration, [join(core, 'clock.cc')])
    for (const seed of [1, 2, 0x9e3779b9]) {
      const native = (await run(program, ['--steady-script', `${seed}`, '20000'])).trim().split('\n').map(Number)
      expect(native).toEqual(steadyScript(seed, 20_000))
    }
  })
})

/** The script of `clock_test.cc`: sixteenths of a millisecond, which both engines hold exactly. */
function steadyScript(seed: number, count: number): number[] {
  let random = seed
  const xorShift = () => {
    random ^= random << 13
    random ^= random >>> 17
    random ^= random << 5
    random >>>= 0
    return random
  }
  let wallMs = 1_700_000_000_000
  let monotonicMs = 1000
  const time = new SteadyTime()
  return Array.from({ length: count }, () => {
    const passed = xorShift() % 40
    monotonicMs += passed
    wallMs += passed
    if (xorShift() % 50 === 0) wallMs += (xorShift() % 20_001) - 10_000
    return time.read(wallMs, monotonicMs) * 16
  })
}

const builds = new Map<string, Promise<string>>()

/** Compiles one program, once; its path. */
function build(name: string, configuration: Configuration, more: readonly string[] = []): Promise<string> {
  const program = join(folder, `${name}-${Object.keys(configurations).indexOf(configuration)}`)
  const flags = ['-std=c++20', '-pthread', ...configurations[configuration]]
  let built = builds.get(program)
  if (built === undefined) {
    built = job(compiler, [...flags, join(here, `${name}.cc`), ...more, '-o', program]).then(() => program)
    builds.set(program, built)
  }
  return built
}

/** Runs a program; its output. @throws Error with all output unless it exits with 0. */
async function run(program: string, args: readonly string[] = []): Promise<string> {
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
function whyNot(configuration: Configuration): Promise<string | undefined> {
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

async function isGcc(): Promise<boolean> {
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
