// What npm runs when the package is installed: makes sure that the native engine is there, or says in one line why the
// TypeScript engine will run instead. Both are good outcomes, so the exit code is 0 for both: a missing compiler must
// not break anybody's installation.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { headersOfThisNode } from './node-headers.js'

const require = createRequire(import.meta.url)
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const sources = ['binding.gyp', 'native']
const binary = join(root, 'build/Release/graupel.node')
const logFile = join(root, 'build/install.log')

// Compiled here, and moved to where the package looks for it only when it has been seen to load. So whatever ends this
// program, and whenever, no half of a binary can be loaded.
const staging = join(root, 'build/staging')

/** An outcome that leads to the TypeScript engine; `output` is all that the build said. */
class NoNativeEngine extends Error {
  /** @param {string} reason @param {string} [output] */
  constructor(reason, output) {
    super(reason)
    this.output = output
  }
}

try {
  console.log(`graupel: ${await install()}`)
} catch (error) {
  const { message, output } = /** @type {NoNativeEngine} */ (error)
  console.log(`graupel: no native engine, the TypeScript engine will run: ${message}${whereAllOfItIs(output)}`)
}

/** @returns {Promise<string>} what was done */
async function install() {
  if (existsSync(binary) && isYoung() && !loadError(binary)) return `the native engine is up to date (${shown(binary)})`
  try {
    // It would be loaded, whatever comes of the build: by a package whose other half is newer, or in vain.
    const stays = `${shown(binary)} is damaged or older than its sources, and cannot be removed`
    if (existsSync(binary)) attempt(() => rmSync(binary), stays)
    const { file, reason } = (isBuildForced() ? undefined : whatLoads()) ?? {}
    if (file && !reason) return `the native engine is prebuilt (${shown(file)})`
    return await build()
  } catch (error) {
    const failure = /** @type {Error} */ (error)
    const { file, reason } = whatLoads() ?? {}
    if (file && !reason) {
      return `the native engine is ${file === binary ? 'old' : 'prebuilt'} (${shown(file)}): ${failure.message}`
    }
    if (file) failure.message += `; and ${reason}`
    throw failure
  }
}

/** Whether the binary is younger than its sources. */
function isYoung() {
  return changedMs(binary) >= Math.max(...sources.map((name) => changedMs(join(root, name))))
}

/** Whether the user wants a build from source although a binary is shipped; `--build-from-source` is what many packages know. */
function isBuildForced() {
  const fromNpm = process.env['npm_config_build_from_source']
  return Boolean(process.env['GRAUPEL_BUILD_FROM_SOURCE']) || fromNpm === 'true' || fromNpm === 'graupel'
}

/**
 * What the package will load, found by its own loader, in a process of its own: a binary that is broken may take its
 * process along. Undefined in a clone, which is not compiled yet.
 *
 * @returns {{ file?: string, reason?: string } | undefined}
 */
function whatLoads() {
  const loader = join(root, 'dist/platform/node.js')
  if (!existsSync(loader)) return undefined
  const program = `import(process.argv[1]).then(({ platform }) => {
    const { file, reason } = platform.loadNative()
    console.log(JSON.stringify({ file, reason }))
  })`
  const args = ['-e', program, pathToFileURL(loader).href]
  const { status, signal, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  // What else there is comes from modules that NODE_OPTIONS loads.
  const line = stdout.split('\n').findLast((line) => line.startsWith('{'))
  if (status === 0 && line !== undefined) return JSON.parse(line)
  return { file: 'a binary', reason: `loading what is shipped ended with ${signal ?? `code ${status}`}` }
}

/** @returns {Promise<string>} */
async function build() {
  if (process.env['GRAUPEL_SKIP_BUILD']) throw new NoNativeEngine('GRAUPEL_SKIP_BUILD is set')
  if (process.env['GRAUPEL_ENGINE'] === 'js') throw new NoNativeEngine("GRAUPEL_ENGINE is 'js'")
  const nodeGyp = findNodeGyp()
  if (nodeGyp === undefined) throw new NoNativeEngine('node-gyp, which builds it, was not found')
  const startMs = performance.now()
  attempt(stage, `${root} cannot be written to`)
  try {
    const output = await run(nodeGyp)
    const built = join(staging, 'build/Release/graupel.node')
    const error = loadError(built)
    if (error) throw new NoNativeEngine(`what was built does not load: ${error}`, output)
    mkdirSync(dirname(binary), { recursive: true })
    renameSync(built, binary)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  rmSync(logFile, { force: true })
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  return `the native engine was built from source in ${seconds} s (${shown(binary)})`
}

function stage() {
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging, { recursive: true })
  for (const name of sources) cpSync(join(root, name), join(staging, name), { recursive: true })
}

/** @typedef {{ command: string, first: string[] }} Command what to start, and its first arguments */

/** Npm brings a node-gyp of its own and says where. @returns {Command | undefined} */
function findNodeGyp() {
  const fromNpm = process.env['npm_config_node_gyp']
  if (fromNpm && existsSync(fromNpm)) return { command: process.execPath, first: [fromNpm] }
  try {
    return { command: process.execPath, first: [require.resolve('node-gyp/bin/node-gyp.js')] }
  } catch {
    // On Windows it is a .cmd, which only a shell starts; npm's own is there in any case.
    const found = spawnSync('node-gyp', ['--version'], { stdio: 'ignore' })
    return found.status === 0 ? { command: 'node-gyp', first: [] } : undefined
  }
}

/** Builds in the staging folder. @param {Command} nodeGyp @returns {Promise<string>} all of the output */
function run({ command, first }) {
  const headers = headersOfThisNode()
  const args = [...first, 'rebuild', '--jobs=max', ...(headers === undefined ? [] : [`--nodedir=${headers}`])]
  // In a process group of its own, because the compilers have to end with it: node-gyp does not see to that.
  const isGroup = process.platform !== 'win32'
  const child = spawn(command, args, { cwd: staging, stdio: ['ignore', 'pipe', 'pipe'], detached: isGroup })
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    // Not `once`: a terminal and npm may both send it, and the second must not break off what the first began.
    process.on(signal, () => {
      try {
        const isRunning = child.pid !== undefined && child.exitCode === null && child.signalCode === null
        if (isRunning && isGroup) process.kill(-(/** @type {number} */ (child.pid)), 'SIGKILL')
        else child.kill()
        rmSync(staging, { recursive: true, force: true, maxRetries: 5 })
      } finally {
        process.removeAllListeners(signal)
        process.kill(process.pid, signal)
      }
    })
  }
  let output = `${command} ${args.join(' ')}\n`
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new NoNativeEngine(`${command} does not start: ${error.message}`, output)))
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output)
      else reject(new NoNativeEngine(`the build failed: ${essence(output) ?? `code ${code ?? signal}`}`, output))
    })
  })
}

/** The line of a failed build that says why: the first that a compiler, a shell or node-gyp gave for a reason. @param {string} output */
function essence(output) {
  const lines = output.split('\n').map((line) => line.trim())
  const patterns = [
    /\berror( [A-Z]+\d+)?: /,
    /: (No such file or directory|not found|command not found|Permission denied)$/,
    /^gyp ERR! stack \w*Error: (?!.*failed with exit code)/,
    /^gyp ERR! stack/,
  ]
  for (const pattern of patterns) {
    const line = lines.find((line) => pattern.test(line))
    if (line) return line.replace(/^gyp ERR! stack (\w*Error: )?/, '').slice(0, 300)
  }
  return undefined
}

/** Why a binary does not load, tried in a process of its own: one that is broken may take its process along. @param {string} file */
function loadError(file) {
  const program = `if (typeof require(process.argv[1]).next !== 'function') throw new Error('it has no function next')`
  const { status, signal, stderr } = spawnSync(process.execPath, ['-e', program, file], { encoding: 'utf8' })
  if (status === 0) return undefined
  return stderr.match(/^\w*Error: (.*)$/m)?.[1] ?? `loading it ended with ${signal ?? `code ${status}`}`
}

/** When a file, or the youngest in a folder, was changed. @param {string} path @returns {number} */
function changedMs(path) {
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => changedMs(join(path, name))))
}

/** @param {() => void} action @param {string} failure */
function attempt(action, failure) {
  try {
    action()
  } catch (error) {
    throw new NoNativeEngine(`${failure} (${/** @type {NodeJS.ErrnoException} */ (error).code})`)
  }
}

/** @param {string | undefined} output */
function whereAllOfItIs(output) {
  if (output === undefined) return ''
  try {
    writeFileSync(logFile, output)
    return ` (all of it: ${logFile})`
  } catch {
    return ` (all of it: run 'npx node-gyp rebuild' in ${root})`
  }
}

/** @param {string} path */
function shown(path) {
  return relative(root, path).replaceAll('\\', '/')
}
