// npm runs this script when it installs the package. It makes sure that the native engine is there, or says why the TypeScript
// engine will run instead. The exit code is 0 in both cases, because a missing compiler must not break an installation. The
// script is JavaScript and imports only Node, because it runs without the devDependencies.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { headersOfThisNode } from './node-headers.js'

const root = fileURLToPath(new URL('..', import.meta.url))
// Only a clone has the last one: the package has those headers in native/.
const sources = ['binding.gyp', 'native', 'node_modules/node-addon-api'].filter((name) =>
  fs.existsSync(join(root, name)),
)
const binary = join(root, 'build/Release/graupel.node')
const logFile = join(root, 'build/install.log')
// The package looks for the binary in another folder, so an incomplete binary is never loaded.
const staging = join(root, 'build/staging')
const advice = 'For the native engine, install a C++20 compiler, make and Python, and run: npm rebuild graupel'
const { env } = process

try {
  console.log(`graupel: ${install()}`)
} catch (error) {
  const { message } = /** @type {Error} */ (error)
  const found = whatLoads()
  const outcome =
    found === undefined
      ? 'no native engine, the TypeScript engine will run'
      : `the native engine is ${found}, and was not built anew`
  console.log(`graupel: ${outcome}: ${message}`)
}

/** @returns {string} the outcome, for the user */
function install() {
  if (fs.existsSync(binary) && isYoung() && loads(binary)) return `the native engine is up to date (${shown(binary)})`
  // Node loads it before every other binary, even if it is damaged or older than its sources.
  fs.rmSync(binary, { force: true })
  const prebuilt = isBuildForced() ? undefined : whatLoads()
  if (prebuilt !== undefined) return `the native engine is prebuilt (${prebuilt})`
  if (env['GRAUPEL_SKIP_BUILD']) throw new Error('GRAUPEL_SKIP_BUILD is set')
  if (env['GRAUPEL_ENGINE'] === 'js') throw new Error("GRAUPEL_ENGINE is 'js'")
  build()
  return `the native engine was built from source (${shown(binary)})`
}

/** Tells whether the binary is younger than its sources. */
function isYoung() {
  const native = fs.readdirSync(join(root, 'native'), { recursive: true, encoding: 'utf8' })
  const files = ['binding.gyp', ...native.map((name) => join('native', name))]
  return files.every((name) => fs.statSync(join(root, name)).mtimeMs <= fs.statSync(binary).mtimeMs)
}

/** Tells whether the user wants to build, although a binary is shipped. Many packages know `--build-from-source`. */
function isBuildForced() {
  const fromNpm = env['npm_config_build_from_source']
  return Boolean(env['GRAUPEL_BUILD_FROM_SOURCE']) || fromNpm === 'true' || fromNpm === 'graupel'
}

/** Asks the package's own loader for the binary that it loads. A clone has none before its first build. */
function whatLoads() {
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

/** @param {string} file */
function loads(file) {
  return output('require(process.argv[1])', file) !== undefined
}

/** Runs Node and returns what it prints. It is another process, because a damaged binary may end it. @param {string[]} args */
function output(...args) {
  const { status, stdout } = spawnSync(process.execPath, ['-e', ...args], { encoding: 'utf8' })
  return status === 0 ? stdout : undefined
}

/** Builds in the staging folder. @throws Error */
function build() {
  fs.rmSync(staging, { recursive: true, force: true })
  fs.mkdirSync(staging, { recursive: true })
  const log = fs.openSync(logFile, 'w')
  try {
    for (const name of sources) fs.cpSync(join(root, name), join(staging, name), { recursive: true })
    const headers = headersOfThisNode()
    const args = ['rebuild', '--jobs=max', ...(headers === undefined ? [] : [`--nodedir=${headers}`])]
    // npm names its own node-gyp; other package managers have it on PATH, on Windows as a .cmd.
    const own = env['npm_config_node_gyp']
    const [command, first] = own ? [process.execPath, [own]] : ['node-gyp', []]
    const shell = !own && process.platform === 'win32'
    const done = spawnSync(command, [...first, ...args], { cwd: staging, stdio: ['ignore', log, log], shell })
    if (done.error) throw new Error(`node-gyp does not start (${done.error.message})\n${advice}`)
    const said = fs.readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-20).join('\n')
    if (done.status !== 0) throw new Error(`the build failed\n${said}\nAll of it: ${logFile}\n${advice}`)
    const built = join(staging, 'build/Release/graupel.node')
    if (!loads(built)) throw new Error(`what was built does not load; the log is ${logFile}`)
    fs.mkdirSync(dirname(binary), { recursive: true })
    fs.renameSync(built, binary)
  } finally {
    fs.closeSync(log)
    fs.rmSync(staging, { recursive: true, force: true })
  }
  fs.rmSync(logFile)
}

/** @param {string} file */
function shown(file) {
  return relative(root, file).replaceAll('\\', '/')
}
