import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { trustOfRegistry } from '../../scripts/authorities.ts'
import { repository } from '../support/documents.ts'
import { hangMs } from '../support/until.ts'

// Another project, which uses this package. It is in a temporary folder outside of this repository, so a file
// that the tarball lacks is not found.

// Root may write everywhere, so only another user can show the effect of a read-only folder.
export const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

export type Variables = Record<string, string | undefined>

/**
 * The folder of the host state of this test file's programs, so that they meet no program of another file.
 * Any user may write there.
 */
const states = mkdtempSync(join(tmpdir(), 'graupel-states-'))
chmodSync(states, 0o777)
process.once('exit', () => rmSync(states, { recursive: true, force: true }))

/**
 * Returns the environment without the variables of the npm that runs these tests, except its registry and its
 * settings.
 */
function cleanEnvironment(): Variables {
  const kept = /^npm_config_(registry|cafile|cache|userconfig|globalconfig|nodedir|proxy|https_proxy|noproxy)$/i
  const dropped = /^(npm_|graupel_|vitest|node_options$|node_env$|prebuilds_only$|cxx$|cc$)/i
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => kept.test(name) || !dropped.test(name)),
  )
  // Tests of installing need no fast binary.
  return { CXXFLAGS: '-O0', GRAUPEL_NODE_UNIQUE: '1', GRAUPEL_STATE_FOLDER: states, ...inherited }
}

export function temporaryFolder(): string {
  // The path is real, because Node names modules by their real paths, and the temporary folder may be a link.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'graupel package ')))
  chmodSync(folder, 0o755)
  return folder
}

function npmProgram(): string {
  if (process.env['npm_execpath']) return process.env['npm_execpath']
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    try {
      return realpathSync(join(folder, 'npm'))
    } catch {}
  }
  throw new Error('npm is not on PATH')
}

/** Runs npm, and returns the output of both streams. Throws if npm fails. */
export function npm(folder: string, args: string[], variables: Variables = {}): string {
  const done = spawnSync(process.execPath, [npmProgram(), ...args, '--no-audit', '--no-fund'], {
    cwd: folder,
    env: { ...cleanEnvironment(), ...trustOfRegistry(), ...variables },
    encoding: 'utf8',
  })
  const output = `${done.stdout}${done.stderr}`
  if (done.status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${done.status}:\n${output}`)
  return output
}

/**
 * Returns a file of the compilers and test runners that consumers use; test/package/tools/package-lock.json
 * has their versions.
 */
export function tool(path: string): string {
  return join(installOnce('test/package/tools', ['--ignore-scripts']), path)
}

/**
 * Installs the packages of a package-lock.json in this repository, unless those of the same lock are
 * installed. Returns the folder node_modules.
 */
export function installOnce(place: string, flags: string[] = [], variables: Variables = {}): string {
  const folder = join(repository, place)
  const installed = join(folder, 'node_modules')
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  /** A copy of the lock, in the folder that was installed by it. */
  const copy = (modules: string) => join(modules, '.installed-lock.json')
  const isCurrent = () => existsSync(copy(installed)) && readFileSync(copy(installed), 'utf8') === lock
  if (!isCurrent()) {
    // Installs into another folder and moves it in one step: test files run side by side, and npm begins by
    // removing node_modules.
    const draft = mkdtempSync(join(repository, 'node_modules/.tools-'))
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(folder, file), join(draft, file))
    npm(draft, ['ci', ...flags], variables)
    writeFileSync(copy(join(draft, 'node_modules')), lock)
    try {
      if (existsSync(installed)) renameSync(installed, join(draft, 'former'))
      renameSync(join(draft, 'node_modules'), installed)
    } catch (error) {
      // Another test file was first.
      if (!isCurrent()) throw error
    }
    rmSync(draft, { recursive: true, force: true })
  }
  return installed
}

/** Makes a new project, installs the tarball, and returns the output of npm. */
export function install(folder: string, tarball: string, flags: string[] = [], variables: Variables = {}): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  return npm(folder, ['install', tarball, '--foreground-scripts', ...flags], variables)
}

/** Copies a project with its installed files. */
export function copyProject(from: string, to: string): string {
  cpSync(from, to, { recursive: true })
  return to
}

export function packageFolder(project: string): string {
  return join(project, 'node_modules/graupel')
}

export function binary(project: string): string {
  return join(packageFolder(project), 'build/Release/graupel.node')
}

/** Makes a folder for PATH without compilers, make and Python. It has only node, and sh for npm's scripts. */
export function poorPath(folder: string): string {
  mkdirSync(folder)
  symlinkSync(process.execPath, join(folder, 'node'))
  symlinkSync('/bin/sh', join(folder, 'sh'))
  return folder
}

export interface Outcome {
  /** The result of the body, through JSON with bigints as strings; undefined if it threw. */
  result?: unknown
  error?: { name: string; code?: string; message: string; cause?: string }
  /** Warnings that carry a code of this package. */
  warnings: { code: string; message: string }[]
}

/** Runs the body of an async function as an ES module, in a new process of the project. */
export function run(project: string, body: string, variables: Variables = {}, flags: string[] = []): Outcome {
  const program = `
    const warnings = []
    process.on('warning', ({ code, message }) => { if (String(code).startsWith('GRAUPEL_')) warnings.push({ code, message }) })
    const outcome = { warnings }
    try {
      outcome.result = await (async () => { ${body} })()
    } catch ({ name, code, message, cause }) {
      outcome.error = { name, code, message, cause: cause && String(cause) }
    }
    await new Promise(setImmediate)
    console.log(JSON.stringify(outcome, (_, value) => typeof value === 'bigint' ? String(value) : value))`
  const done = node(project, [...flags, '--input-type=module', '-e', program], variables)
  if (done.status !== 0) throw new Error(`node ended with ${done.signal ?? done.status}: ${done.stderr}`)
  return JSON.parse(done.stdout) as Outcome
}

export function node(
  project: string,
  args: string[],
  variables: Variables = {},
  user: typeof nobody = {},
): SpawnSyncReturns<string> {
  const env = { ...cleanEnvironment(), ...variables }
  // The time limit kills the process, because the test runner cannot stop it during this synchronous call.
  const limit = { timeout: hangMs, killSignal: 'SIGKILL' } as const
  return spawnSync(process.execPath, args, { cwd: project, env, encoding: 'utf8', ...limit, ...user })
}
