import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { repository } from '../support/documents.ts'
import {
  binary,
  compileMs,
  copyProject,
  install,
  nobody,
  node,
  npm,
  type Outcome,
  packageFolder,
  poorPath,
  run,
  temporaryFolder,
  type Variables,
} from './consumer.ts'
import { bareTarball, binaryPath, filesInTarball, publishedBinary, putBinary, repack } from './tarball.ts'

// Installations of the package with or without a binary, with or without a compiler. test/runtimes runs this file on every Node.

const isWindows = process.platform === 'win32'
const folder = temporaryFolder()
/** The project without a binary; no script has run. */
const bare = join(folder, 'bare')
// On Windows, node-gyp finds compilers and Python off PATH, too.
const canBePoor = !isWindows
const poor = canBePoor ? { PATH: poorPath(join(folder, 'bin')), PYTHON: undefined } : {}
let published: string

beforeAll(() => {
  published = publishedBinary()
  install(bare, bareTarball(), ['--ignore-scripts'])
}, 2 * compileMs)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a package with a binary', () => {
  test('gives the native engine with no script run, no compiler and no warning', () => {
    const tarball = repack(bareTarball(), join(folder, 'whole'), (content) => {
      mkdirSync(dirname(join(content, binaryPath)), { recursive: true })
      copyFileSync(published, join(content, binaryPath))
    })
    expect(filesInTarball(tarball)).toContain(`package/${binaryPath}`)
    const project = join(folder, 'whole project')
    install(project, tarball, ['--ignore-scripts'], poor)
    expectNative(project, join(packageFolder(project), binaryPath))
    expect(existsSync(join(packageFolder(project), 'build'))).toBe(false)
  })

  test('compiles nothing if scripts run', () => {
    const project = projectWith('scripts', (place) => copyFileSync(published, place))
    expect(rebuild(project)).toBe(`graupel: the native engine is prebuilt (${binaryPath})`)
  })

  test.runIf(canBePoor)('keeps the binary if a requested build fails', () => {
    const project = projectWith('forced', (place) => copyFileSync(published, place))
    const said = rebuild(project, { ...poor, GRAUPEL_BUILD_FROM_SOURCE: '1' })
    expect(said).toMatch(`graupel: the native engine is ${binaryPath}, and was not built anew: the build failed\n`)
  })
})

describe('a package without a binary', () => {
  test.runIf(canBePoor)(
    'gives the TypeScript engine if there is no compiler, and says how to get the native engine',
    () => {
      const project = join(folder, 'poor')
      const said = install(project, bareTarball(), [], poor)
      expect(said).toContain('graupel: no native engine, the TypeScript engine will run: the build failed\n')
      expect(said).toContain('gyp ERR!')
      expect(said).toMatch(/\nFor the native engine, install a C\+\+20 compiler, .* and run: npm rebuild graupel\n/)
      expectJs(project, /: no binary for \w+ \w+, Node-API \d+, in /)
    },
  )

  test(
    'gives the native engine if there is a compiler, and does not build it again',
    () => {
      const project = join(folder, 'rich')
      const said = install(project, bareTarball())
      expect(said).toContain('graupel: the native engine was built from source (build/Release/graupel.node)\n')
      expectNative(project, binary(project))
      expect(readdirSync(join(packageFolder(project), 'build'))).toEqual(['Release'])
      expect(rebuild(project)).toMatch(/^graupel: the native engine is up to date/)
    },
    compileMs,
  )

  test.each([
    ['GRAUPEL_SKIP_BUILD', '1', 'GRAUPEL_SKIP_BUILD is set'],
    ['GRAUPEL_ENGINE', 'js', "GRAUPEL_ENGINE is 'js'"],
  ])('%s=%s builds nothing', (name, value, reason) => {
    const project = projectWith(`skip ${name}`)
    const line = `graupel: no native engine, the TypeScript engine will run: ${reason}`
    expect(rebuild(project, { [name]: value })).toBe(line)
    expectJs(project, /: no binary for/)
  })

  test('a build that fails shows the end of its log, and names the file of the log', () => {
    const project = projectWith('faulty')
    writeFileSync(join(packageFolder(project), 'native/binding/addon.cc'), '#error "the sky is falling"\n')
    const said = rebuild(project)
    const log = join(packageFolder(project), 'build/install.log')
    expect(said).toMatch(/^graupel: no native engine, the TypeScript engine will run: the build failed\n/)
    expect(said).toContain('gyp ERR!')
    expect(said).toContain(log)
    expect(readFileSync(log, 'utf8')).toContain('the sky is falling')
    expectJs(project, /: no binary for/)
  })
})

describe('a binary that is damaged', () => {
  const damage = (place: string) => writeFileSync(place, readFileSync(published).subarray(0, 60))

  test('is named by the warning, and the TypeScript engine runs', () => {
    expectJs(projectWith('damaged', damage), new RegExp(`: the binary .*${binaryPath} does not load: .+`))
  })

  // There are no signals on Windows.
  test(
    'is replaced by a binary that is built from source, even after an interrupted installation',
    () => {
      const project = projectWith('mended', damage)
      if (!isWindows) {
        expect(interruptedBuild(packageFolder(project))).toBe('SIGINT')
        expect(existsSync(binary(project))).toBe(false)
        expectJs(project, /does not load: /)
      }
      expect(rebuild(project)).toContain('graupel: the native engine was built from source')
      expectNative(project, binary(project))
    },
    compileMs,
  )

  test.each([
    ['that does not load', 60],
    ['that ends the process', 0.5],
  ])('%s is removed from the place from which it would be loaded, if it cannot be replaced', (_, size) => {
    const project = projectWith(`damaged ${size}`)
    mkdirSync(dirname(binary(project)), { recursive: true })
    copyFileSync(published, binary(project))
    truncateSync(binary(project), size < 1 ? Math.floor(statSync(published).size * size) : size)
    expect(rebuild(project, { GRAUPEL_SKIP_BUILD: '1' })).toContain('GRAUPEL_SKIP_BUILD is set')
    expectJs(project, /: no binary for/)
  })
})

describe("only another processor's binary", () => {
  test('in its own place is named by the warning', () => {
    const project = projectWith('other')
    const other = `${process.platform}-${process.arch === 'x64' ? 'arm64' : 'x64'}`
    mkdirSync(join(packageFolder(project), 'prebuilds', other), { recursive: true })
    copyFileSync(published, join(packageFolder(project), 'prebuilds', other, 'graupel.node'))
    expectJs(project, new RegExp(`: no binary for .*, which has some for ${other}; build it `))
  })

  test('in the place of the right binary does not load', () => {
    const project = projectWith('wrong', (place) => writeFileSync(place, forAnotherProcessor(readFileSync(published))))
    expectJs(project, new RegExp(`: the binary .*${binaryPath} does not load: .+`))
  })
})

test('the shipped binary replaces a binary that was built on another system and copied here', () => {
  const project = projectWith('copied', (place) => copyFileSync(published, place))
  mkdirSync(dirname(binary(project)), { recursive: true })
  writeFileSync(binary(project), forAnotherProcessor(readFileSync(published)))
  expectNative(project, join(packageFolder(project), binaryPath))
})

test.runIf(binaryPath.includes('glibc'))(
  'a binary for glibc is not loaded on musl, because it could load and fail later',
  () => {
    const project = projectWith('musl', (place) => copyFileSync(published, place))
    // A program's header names its loader, which shows the C library.
    const program = join(folder, 'node-for-musl')
    writeFileSync(program, '\x7fELF /lib/ld-musl-x86_64.so.1')
    const { result } = run(project, `process.execPath = ${JSON.stringify(program)}; ${probe}`)
    expect(result).toMatchObject({
      kind: 'js',
      reason: expect.stringContaining('does not load: it is made for glibc, and this system has musl'),
      distinct: 1000,
    })
  },
)

// Permissions work differently on Windows.
test.skipIf(isWindows)('a read-only package folder breaks neither installation nor import', () => {
  const project = projectWith('read-only')
  chmodSync(packageFolder(project), 0o555)
  const done = node(packageFolder(project), ['scripts/install.js'], {}, nobody)
  expect(done).toMatchObject({ status: 0, stderr: '' })
  expect(done.stdout).toMatch(/^graupel: no native engine, the TypeScript engine will run: E\w+: .*build.*\n$/)
  const program =
    "import('graupel').then(({ createGenerator }) => console.log(createGenerator({ node: 7 }).take(9).length))"
  expect(node(project, ['-e', program], {}, nobody)).toMatchObject({ status: 0, stdout: '9\n' })
  chmodSync(packageFolder(project), 0o755)
})

/** Makes a project with the package installed, lets `put` replace the binary, and runs no script. */
function projectWith(name: string, put?: (place: string) => void): string {
  const project = copyProject(bare, join(folder, name))
  if (put !== undefined) putBinary(project, put)
  return project
}

/** Runs the install script and returns its output. */
function rebuild(project: string, variables: Variables = {}): string {
  const output = npm(project, ['rebuild', 'graupel', '--foreground-scripts'], variables)
  return output.slice(output.indexOf('graupel: '), output.lastIndexOf('rebuilt dependencies')).trim()
}

/** Sends a signal to all processes of a build, like a terminal, and returns the signal that ended the install script. */
function interruptedBuild(place: string): unknown {
  const program = `
    const { spawn } = await import('node:child_process')
    const { existsSync } = await import('node:fs')
    const child = spawn(process.execPath, ['scripts/install.js'], { detached: true, stdio: 'ignore' })
    const begun = setInterval(() => existsSync('build/staging/build/Makefile') && process.kill(-child.pid, 'SIGINT'), 5)
    return await new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? code))
      .on('exit', () => clearInterval(begun)))`
  return run(place, program, { npm_config_node_gyp: join(repository, 'node_modules/node-gyp/bin/node-gyp.js') }).result
}

/** Copies the binary with another machine in its header. */
function forAnotherProcessor(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  const isX64 = process.arch === 'x64'
  if (process.platform === 'linux') copy.writeUInt16LE(isX64 ? 183 : 62, 18)
  else if (process.platform === 'darwin') copy.writeUInt32LE(isX64 ? 0x0100000c : 0x01000007, 4)
  else copy.writeUInt16LE(isX64 ? 0xaa64 : 0x8664, copy.readUInt32LE(0x3c) + 4)
  return copy
}

const probe = `const { createGenerator, engineInfo } = await import('graupel')
  const ids = createGenerator({ node: 7 })
  return { ...engineInfo(), distinct: new Set(ids.take(1000)).size }`

function expectNative(project: string, file: string): void {
  expect(run(project, probe)).toEqual({ result: { kind: 'native', file, distinct: 1000 }, warnings: [] })
}

/** Expects the same text in the only warning, the reason of `engineInfo()` and the refusal of `engine: 'native'`. */
function expectJs(project: string, warning: RegExp): void {
  const { result, warnings }: Outcome = run(project, probe)
  expect(warnings).toEqual([{ code: 'GRAUPEL_JS_ENGINE', message: expect.stringMatching(warning) }])
  const { reason } = result as { reason: string }
  expect(result).toEqual({ kind: 'js', reason, distinct: 1000 })
  expect(warnings[0]?.message).toContain(reason)
  const { error } = run(project, `(await import('graupel')).createGenerator({ node: 7, engine: 'native' })`)
  expect(error).toMatchObject({ code: 'ERR_NATIVE_UNAVAILABLE', cause: expect.stringMatching(/Error/) })
  expect(error?.message).toContain(reason)
}
