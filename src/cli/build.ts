import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { type Arguments, helpFlag, type Manual, refuseWords, UsageError } from './arguments.js'
import type { Output } from './output.js'

// Both `dist/cli` and `src/cli` are two folders below the package.
const root = fileURLToPath(new URL('../..', import.meta.url))
/** The recipe of a clone. The package has none in its root, because npm runs node-gyp for it. */
const recipe = join(root, 'binding.gyp')
/** The recipe, the sources and the headers of node-addon-api in the package (scripts/prepack.ts). */
const packed = join(root, 'native/sources.json.br')
const binary = join(root, 'build/Release/graupel.node')
const logFile = join(root, 'build/build.log')
// The package looks for the binary in another folder, so an incomplete binary is never loaded.
const staging = join(root, 'build/staging')

const flags = { force: { help: 'compile even if a binary loads' }, help: helpFlag } as const

export const buildManual: Manual<typeof flags> = {
  name: 'build',
  usage: 'graupel build [flags]',
  summary: 'Compile the native engine if no binary of the package loads.',
  flags,
  notes: [
    'It needs a C++20 compiler, make and Python, and takes a minute. node-gyp loads',
    "Node's headers from the network if they are not beside Node. Without the native",
    'engine, the TypeScript engine makes the same ids.',
  ],
}

/** `graupel build`. @throws UsageError `ERR_NATIVE_UNAVAILABLE` if there is no native engine afterwards. */
export async function build({ values, positionals }: Arguments<keyof typeof flags>, output: Output): Promise<void> {
  refuseWords('build', positionals)
  await output.write(`${buildEngine(values.force !== undefined).outcome}\n`)
}

/**
 * Makes sure that a native engine loads.
 *
 * @param isForced - Whether it compiles even if a shipped binary loads.
 * @returns the outcome for the user, and whether the engine was compiled
 * @throws UsageError `ERR_NATIVE_UNAVAILABLE`
 */
export function buildEngine(isForced: boolean): { outcome: string; isNew: boolean } {
  try {
    if (!isForced) {
      // Node loads it before every other binary, even if it is damaged or older than its sources.
      if (fs.existsSync(binary) && !isCurrent()) fs.rmSync(binary)
      const outcome = engineThatLoads()
      if (outcome !== undefined) return { outcome, isNew: false }
    }
    compile()
    return { outcome: `the native engine was compiled (${shown(binary)})`, isNew: true }
  } catch (error) {
    throw new UsageError('ERR_NATIVE_UNAVAILABLE', `the native engine was not compiled: ${(error as Error).message}`)
  }
}

/**
 * Tells which native engine loads, for people; `undefined` if none loads, or one that is older than its
 * sources.
 */
export function engineThatLoads(): string | undefined {
  if (fs.existsSync(binary)) return isCurrent() ? `the native engine is up to date (${shown(binary)})` : undefined
  const found = whatLoads()
  return found && `the native engine is prebuilt (${found})`
}

/** Tells whether the compiled binary is younger than its sources, and loads. */
function isCurrent(): boolean {
  return sourceFiles().every((file) => fs.statSync(file).mtimeMs <= fs.statSync(binary).mtimeMs) && loads(binary)
}

function sourceFiles(): string[] {
  // A program may be deployed with a binary and without sources.
  if (!fs.existsSync(recipe)) return fs.existsSync(packed) ? [packed] : []
  const native = fs.readdirSync(join(root, 'native'), { recursive: true, encoding: 'utf8' })
  return [recipe, ...native.map((name) => join(root, 'native', name))]
}

/** Asks the package's own loader for the binary that it loads. A clone has none before its first build. */
function whatLoads(): string | undefined {
  const loader = join(root, 'dist/platform/node.js')
  if (!fs.existsSync(loader)) return undefined
  const program = `import(process.argv[1]).then(({ platform }) => {
    const { ok, file } = platform.loadNative()
    if (ok) console.log('\\n' + file)
  })`
  // The modules in NODE_OPTIONS may print lines of their own before.
  const file = output(program, pathToFileURL(loader).href)?.trimEnd().split('\n').at(-1)
  return file ? shown(file) : undefined
}

function loads(file: string): boolean {
  return output('require(process.argv[1])', file) !== undefined
}

/**
 * Runs Node and returns the text that it prints. It is another process, because a damaged binary may end it.
 */
function output(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync(process.execPath, ['-e', ...args], { encoding: 'utf8' })
  return status === 0 ? stdout : undefined
}

/** Compiles in the staging folder. @throws Error */
function compile(): void {
  fs.rmSync(staging, { recursive: true, force: true })
  fs.mkdirSync(staging, { recursive: true })
  const log = fs.openSync(logFile, 'w')
  try {
    stageSources()
    const headers = headersOfThisNode()
    const args = ['rebuild', '--jobs=max', ...(headers === undefined ? [] : [`--nodedir=${headers}`])]
    const own = nodeGyp()
    const [command, first] = own === undefined ? ['node-gyp', []] : [process.execPath, [own]]
    // On Windows, a node-gyp on PATH is a .cmd.
    const shell = own === undefined && process.platform === 'win32'
    const done = spawnSync(command, [...first, ...args], { cwd: staging, stdio: ['ignore', log, log], shell })
    if (done.error) throw new Error(`node-gyp does not start (${done.error.message}); install it: npm i -g node-gyp`)
    if (done.status !== 0) throw new Error(`${fault()}; install a C++20 compiler, make and Python, or see ${logFile}`)
    const built = join(staging, 'build/Release/graupel.node')
    if (!loads(built)) throw new Error(`the result does not load; see ${logFile}`)
    fs.mkdirSync(dirname(binary), { recursive: true })
    fs.renameSync(built, binary)
  } finally {
    fs.closeSync(log)
    fs.rmSync(staging, { recursive: true, force: true })
  }
  fs.rmSync(logFile)
}

/** Puts into the staging folder what node-gyp compiles. */
function stageSources(): void {
  if (fs.existsSync(recipe)) {
    for (const name of ['binding.gyp', 'native', 'node_modules/node-addon-api']) {
      fs.cpSync(join(root, name), join(staging, name), { recursive: true })
    }
    return
  }
  const texts: Record<string, string> = JSON.parse(brotliDecompressSync(fs.readFileSync(packed)).toString())
  for (const [name, text] of Object.entries(texts)) {
    fs.mkdirSync(dirname(join(staging, name)), { recursive: true })
    fs.writeFileSync(join(staging, name), text)
  }
}

/** Returns the first error in the log: of the compiler, of the linker, or of node-gyp. */
function fault(): string {
  const lines = fs.readFileSync(logFile, 'utf8').split('\n')
  const isFault = (line: string) => /error:|error C\d|cannot find -l|gyp ERR! stack Error/.test(line)
  return (lines.find(isFault) ?? 'node-gyp failed').trim()
}

/**
 * Returns the node-gyp of the npm that started this command, or of the npm that came with Node. Other
 * managers have it on PATH.
 */
function nodeGyp(): string | undefined {
  const folder = dirname(process.execPath)
  const program = 'node_modules/npm/node_modules/node-gyp/bin/node-gyp.js'
  const programs = [process.env['npm_config_node_gyp'] ?? '', join(folder, '../lib', program), join(folder, program)]
  return programs.find((path) => path !== '' && fs.existsSync(path))
}

/**
 * Returns the folder of the headers that came with this Node, so that node-gyp need not download them.
 * Returns nothing if the headers are not in the folder of the installer, or npm is configured with others.
 */
export function headersOfThisNode(): string | undefined {
  const folder = join(dirname(process.execPath), '..')
  if (process.env['npm_config_nodedir']) return undefined
  try {
    const text = fs.readFileSync(join(folder, 'include/node/node_version.h'), 'utf8')
    const parts = ['MAJOR', 'MINOR', 'PATCH'].map((part) => text.match(`define NODE_${part}_VERSION (\\d+)`)?.[1])
    return parts.join('.') === process.versions.node ? folder : undefined
  } catch {
    return undefined
  }
}

function shown(file: string): string {
  return relative(root, file).replaceAll('\\', '/')
}
