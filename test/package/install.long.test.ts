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
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxBytesOfBinary } from '../../scripts/targets.ts'
import {
  binary,
  copyProject,
  install,
  nobody,
  node,
  type Outcome,
  packageFolder,
  poorPath,
  run,
  temporaryFolder,
  type Variables,
} from './consumer.ts'
import { bareTarball, binaryPath, filesInTarball, publishedBinary, putBinary, repack } from './tarball.ts'

// Installations of the package with or without a binary, with or without a compiler. test/runtimes runs this
// file on every Node.

const isWindows = process.platform === 'win32'
const folder = temporaryFolder()
const program = 'dist/cli/main.js'
const failed = 'the native engine was not compiled: '
/** The project without a binary; no script has run. */
const bare = join(folder, 'bare')
// On Windows, node-gyp finds compilers and Python off PATH, too.
const canBePoor = !isWindows
const poor = canBePoor ? { PATH: poorPath(join(folder, 'bin')), PYTHON: undefined } : {}
let published: string

beforeAll(() => {
  published = publishedBinary()
  install(bare, bareTarball(), ['--ignore-scripts'])
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a package with a binary', () => {
  // package.long.test.ts measures the rest.
  test('weighs at most 2.7 MB, because a binary has at most 0.4 MB', () => {
    expect(statSync(published).size).toBeLessThanOrEqual(maxBytesOfBinary)
  })

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

  test('is not compiled by npx graupel build', () => {
    const project = projectWith('prebuilt', (place) => copyFileSync(published, place))
    expect(build(project)).toEqual([0, `the native engine is prebuilt (${binaryPath})\n`])
  })

  test.runIf(canBePoor)('keeps the binary if a forced build fails', () => {
    const project = projectWith('forced', (place) => copyFileSync(published, place))
    expect(build(project, poor, ['--force'])).toEqual([2, expect.stringContaining(failed)])
    expectNative(project, join(packageFolder(project), binaryPath))
  })
})

describe('a package without a binary', () => {
  test.runIf(canBePoor)('gives the TypeScript engine if there is no compiler, and the command says its needs', () => {
    const project = projectWith('poor')
    const [status, said] = build(project, poor)
    expect(status).toBe(2)
    expect(said).toMatch(/^graupel: the native engine was not compiled: gyp ERR! stack Error: .*Python.*\n$/)
    expect(said).toMatch(
      /; install a C\+\+20 compiler, make and Python, or see .*build\.log \(ERR_NATIVE_UNAVAILABLE\)\n$/,
    )
    expectJs(
      project,
      /: no binary for \w+ \w+, Node-API \d+, in .*; build it with a C\+\+ compiler \(npx graupel build\)/,
    )
  })

  test('gives the native engine after npx graupel build, which does not build it again', () => {
    const project = projectWith('rich')
    expect(build(project)).toEqual([0, 'the native engine was compiled (build/Release/graupel.node)\n'])
    expectNative(project, binary(project))
    expect(readdirSync(join(packageFolder(project), 'build'))).toEqual(['Release'])
    expect(build(project)).toEqual([0, 'the native engine is up to date (build/Release/graupel.node)\n'])
  })

  test('a build that fails names the first error and the file of the log', () => {
    const project = projectWith('faulty')
    const sources = join(packageFolder(project), 'native/sources.json.br')
    const texts = JSON.parse(brotliDecompressSync(readFileSync(sources)).toString())
    texts['native/binding/addon.cc'] = '#error "the sky is falling"\n'
    writeFileSync(sources, brotliCompressSync(JSON.stringify(texts)))
    const log = join(packageFolder(project), 'build/build.log')
    const [status, said] = build(project)
    expect(status).toBe(2)
    expect(said).toMatch(/: .*error: .*"the sky is falling"; install a C\+\+20 compiler/)
    expect(said).toContain(log)
    expect(readFileSync(log, 'utf8')).toContain('the sky is falling')
    expectJs(project, /: no binary for/)
  })

  test.runIf(process.platform === 'linux')('a build that lacks a library names it', () => {
    const project = projectWith('unlinked')
    const sources = join(packageFolder(project), 'native/sources.json.br')
    const texts: Record<string, string> = JSON.parse(brotliDecompressSync(readFileSync(sources)).toString())
    // Empty sources, because the compiler has to succeed.
    for (const name of Object.keys(texts)) if (name.endsWith('.cc')) texts[name] = ''
    texts['binding.gyp'] = String(texts['binding.gyp']).replace('"-static-libgcc"', '"-static-libgcc", "-lmissing"')
    writeFileSync(sources, brotliCompressSync(JSON.stringify(texts)))
    expect(build(project)).toEqual([
      2,
      expect.stringMatching(/: .*cannot find -lmissing\b.*; install a C\+\+20 compiler/),
    ])
  })
})

describe('a binary that is damaged', () => {
  const damage = (place: string) => writeFileSync(place, readFileSync(published).subarray(0, 60))

  test('is named by the warning, and the TypeScript engine runs', () => {
    expectJs(projectWith('damaged', damage), new RegExp(`: the binary .*${binaryPath} does not load: .+`))
  })

  // There are no signals on Windows.
  test('is replaced by a binary that is compiled, even after an interrupted build', () => {
    const project = projectWith('mended', damage)
    if (!isWindows) {
      expect(interruptedBuild(packageFolder(project))).toBe('SIGINT')
      expect(existsSync(binary(project))).toBe(false)
      expectJs(project, /does not load: /)
    }
    expect(build(project)).toEqual([0, expect.stringContaining('the native engine was compiled')])
    expectNative(project, binary(project))
  })

  test.runIf(canBePoor).each([
    ['that does not load', 60],
    ['that ends the process', 0.5],
  ])('%s is removed from the place from which it would be loaded, if it cannot be replaced', (_, size) => {
    const project = projectWith(`damaged ${size}`)
    mkdirSync(dirname(binary(project)), { recursive: true })
    copyFileSync(published, binary(project))
    truncateSync(binary(project), size < 1 ? Math.floor(statSync(published).size * size) : size)
    expect(build(project, poor)).toEqual([2, expect.stringContaining(failed)])
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
test.skipIf(isWindows)('a read-only package folder breaks no import, and is named by the build', () => {
  const project = projectWith('read-only')
  chmodSync(packageFolder(project), 0o555)
  const done = node(packageFolder(project), ['dist/cli/main.js', 'build'], {}, nobody)
  expect(done).toMatchObject({ status: 2, stdout: '' })
  expect(done.stderr).toMatch(/^graupel: the native engine was not compiled: E\w+: .*build.*\n$/)
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

/** Runs the command and returns its exit code and what it prints. */
function build(project: string, variables: Variables = {}, flags: string[] = []): [number | null, string] {
  const { status, stdout, stderr } = node(packageFolder(project), [program, 'build', ...flags], variables)
  return [status, stdout + stderr]
}

/**
 * Sends a signal to all processes of a build, like a terminal, and returns the signal that ended the command.
 */
function interruptedBuild(place: string): unknown {
  const body = `
    const { spawn } = await import('node:child_process')
    const { existsSync } = await import('node:fs')
    const child = spawn(process.execPath, ['dist/cli/main.js', 'build'], { detached: true, stdio: 'ignore' })
    const begun = setInterval(() => existsSync('build/staging/build/Makefile') && process.kill(-child.pid, 'SIGINT'), 5)
    return await new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? code))
      .on('exit', () => clearInterval(begun)))`
  return run(place, body).result
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
  const { kind, file, reason } = engineInfo()
  return { kind, file, reason, distinct: new Set(ids.take(1000)).size }`

function expectNative(project: string, file: string): void {
  expect(run(project, probe)).toEqual({ result: { kind: 'native', file, distinct: 1000 }, warnings: [] })
}

/**
 * Expects the same text in the only warning, the reason of `engineInfo()` and the refusal of `engine:
 * 'native'`.
 */
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
