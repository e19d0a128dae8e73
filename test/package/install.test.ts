import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownTarget } from '../../scripts/targets.js'
import {
  binary,
  filesInTarball,
  install,
  node,
  type Outcome,
  pack,
  packageFolder,
  poorPath,
  repack,
  repository,
  run,
  temporaryFolder,
} from './consumer.ts'

// What a user gets, in an empty folder, from a tarball with or without a binary, with or without a compiler. Runs on
// every Node (`npm run test:runtimes`).

const target = ownTarget()
if (target === undefined) throw new Error(`no binary is published for ${process.platform} ${process.arch}`)
const { folder: targetFolder, file: targetFile } = target
const otherFolder = `${process.platform}-${process.arch === 'x64' ? 'arm64' : 'x64'}`

const folder = temporaryFolder()
// On Windows, node-gyp finds compilers and Python wherever they are, so there is no being without.
const canBePoor = process.platform !== 'win32'
const poor = canBePoor ? { PATH: poorPath(join(folder, 'bin')), PYTHON: undefined } : {}
/** Without a binary. */
let bare: string
/** This platform's, as it is published. */
let published: string

beforeAll(() => {
  bare = process.env['GRAUPEL_TEST_TARBALL'] ?? pack(folder)
  published = process.env['GRAUPEL_TEST_BINARY'] ?? prebuild()
}, 300_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function prebuild(): string {
  const done = node(repository, ['scripts/prebuild.js', '--out', folder], { CXXFLAGS: undefined })
  if (done.status !== 0) throw new Error(`${done.stdout}${done.stderr}`)
  return join(folder, 'prebuilds', targetFolder, targetFile)
}

describe('a tarball with a binary', () => {
  test('gives the native engine with no script run, no compiler and no warning', () => {
    const project = projectFrom('whole', ['--ignore-scripts'], (place) => copyFileSync(published, place), poor)
    expectNative(project.folder, join(packageFolder(project.folder), 'prebuilds', targetFolder, targetFile))
    expect(existsSync(join(packageFolder(project.folder), 'build'))).toBe(false)
  })

  test('compiles nothing where scripts run, unless it is told to', () => {
    const project = projectFrom('scripts', [], (place) => copyFileSync(published, place))
    expect(project.said).toEqual([`graupel: the native engine is prebuilt (prebuilds/${targetFolder}/${targetFile})`])
    if (!canBePoor) return
    const variables = { ...poor, GRAUPEL_BUILD_FROM_SOURCE: '1' }
    const { stdout } = node(packageFolder(project.folder), ['scripts/install.js'], variables)
    expect(stdout).toMatch(/^graupel: the native engine is prebuilt \(.*\): .+/)
    expect(stdout).toMatch(/the build failed|node-gyp, which builds it, was not found/)
  })
})

describe('a tarball without a binary', () => {
  test.runIf(canBePoor)('gives the TypeScript engine where there is no compiler, and installation says why', () => {
    const project = projectFrom('poor', [], undefined, poor)
    expect(project.said).toEqual([
      expect.stringMatching(/^graupel: no native engine, the TypeScript engine will run: the build failed: .+/),
    ])
    expectJs(project.folder, /: no binary for \w+ \w+, Node-API \d+, in /)
  })

  test('gives the native engine where there is a compiler', () => {
    const project = projectFrom('rich', [], undefined)
    expect(project.said).toEqual([
      expect.stringMatching(/^graupel: the native engine was built from source in [\d.]+ s /),
    ])
    expectNative(project.folder, binary(project.folder))
  })
})

describe('a binary that is damaged', () => {
  const damage = (place: string) => writeFileSync(place, readFileSync(published).subarray(0, 60))

  test('is named by the warning, and the TypeScript engine runs', () => {
    const project = projectFrom('damaged', ['--ignore-scripts'], damage)
    expectJs(project.folder, new RegExp(`: the binary .*${targetFile} does not load: .+`))
  })

  test('is replaced by one that is built from source, where that can be done', () => {
    const project = projectFrom('mended', [], damage)
    expect(project.said).toEqual([expect.stringMatching(/^graupel: the native engine was built from source in /)])
    expectNative(project.folder, binary(project.folder))
  })
})

describe("only another processor's binary", () => {
  test('in its own place: the warning says what there is', () => {
    const tarball = repack(bare, join(folder, 'other'), (content) => {
      mkdirSync(join(content, 'prebuilds', otherFolder), { recursive: true })
      copyFileSync(published, join(content, 'prebuilds', otherFolder, targetFile))
    })
    install(join(folder, 'other-project'), tarball, ['--ignore-scripts'])
    expectJs(
      join(folder, 'other-project'),
      new RegExp(`: no binary for .*, which has some for ${otherFolder}; build it `),
    )
  })

  test('in the place of ours: it does not load', () => {
    const project = projectFrom('wrong', ['--ignore-scripts'], (place) =>
      writeFileSync(place, forAnotherProcessor(readFileSync(published))),
    )
    expectJs(project.folder, new RegExp(`: the binary .*${targetFile} does not load: .+`))
  })
})

test('what was built for another system, and copied here, makes way for the binary that is shipped', () => {
  const project = projectFrom('copied', ['--ignore-scripts'], (place) => copyFileSync(published, place))
  mkdirSync(join(packageFolder(project.folder), 'build/Release'), { recursive: true })
  writeFileSync(binary(project.folder), forAnotherProcessor(readFileSync(published)))
  expectNative(project.folder, join(packageFolder(project.folder), 'prebuilds', targetFolder, targetFile))
})

test.runIf(target.libc === 'glibc')(
  'a binary for glibc is not loaded on musl, where it may load and fail later',
  () => {
    const project = projectFrom('musl', ['--ignore-scripts'], (place) => copyFileSync(published, place))
    // The loader that a program names at its beginning says which C library it runs on.
    const program = join(folder, 'node-for-musl')
    writeFileSync(program, '\x7fELF /lib/ld-musl-x86_64.so.1')
    const { result } = run(project.folder, `process.execPath = ${JSON.stringify(program)}; ${probe}`)
    expect(result).toMatchObject({
      kind: 'js',
      reason: expect.stringContaining('does not load: it is made for glibc, and this system has musl'),
      distinct: 1000,
    })
  },
)

/** A project that installed a tarball with such a binary, and what graupel said meanwhile. */
function projectFrom(
  name: string,
  flags: string[],
  putBinary: ((place: string) => void) | undefined,
  variables: Record<string, string | undefined> = {},
): { folder: string; said: string[] } {
  const tarball = repack(bare, join(folder, name), (content) => {
    if (putBinary === undefined) return
    const place = join(content, 'prebuilds', targetFolder)
    mkdirSync(place, { recursive: true })
    putBinary(join(place, targetFile))
  })
  if (putBinary !== undefined)
    expect(filesInTarball(tarball)).toContain(`package/prebuilds/${targetFolder}/${targetFile}`)
  const project = join(folder, `${name}-project`)
  const output = install(project, tarball, flags, variables)
  return { folder: project, said: output.split('\n').filter((line) => line.startsWith('graupel:')) }
}

/** The same binary with another machine in its header. */
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

/** One warning, and the reason of `engineInfo()`, say the same; who insists on native is refused with the same. */
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
