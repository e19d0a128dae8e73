import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  binary,
  copyProject,
  filesInTarball,
  install,
  nobody,
  node,
  npm,
  type Outcome,
  pack,
  packAll,
  packageFolder,
  repository,
  run,
  temporaryFolder,
  tool,
} from './consumer.ts'

const isWindows = process.platform === 'win32'
const folder = temporaryFolder()
const builtProject = join(folder, 'built')
const bareProject = join(folder, 'bare')
let tarball: string
let installOutput: string

const engineOf = `const { engineInfo } = await import('graupel'); return engineInfo()`
const thousandIds = `const { createGenerator } = await import('graupel')
  return new Set(createGenerator({ node: 7 }).take(1000)).size`

beforeAll(() => {
  tarball = pack(folder)
  installOutput = install(builtProject, tarball)
  install(bareProject, tarball, ['--ignore-scripts'])
}, 300_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the tarball', () => {
  test('holds what is needed to run and to build, and nothing else', () => {
    const folders = new Set(filesInTarball(tarball).map((file) => file.split('/').slice(1, 3).join('/')))
    for (const needed of [
      'dist/index.js',
      'dist/index.d.ts',
      'native/core',
      'native/binding',
      'binding.gyp',
      'LICENSE',
    ])
      expect(folders).toContain(needed)
    const strangers = [...folders].filter((name) => !/^(dist|native|scripts|prebuilds)\/|^[\w.-]+$/.test(name))
    expect(strangers).toEqual([])
    expect(filesInTarball(tarball).filter((file) => /\b(test|bench|build|node_modules)\b|\.tgz$/.test(file))).toEqual(
      [],
    )
    expect(readdirSync(join(packageFolder(builtProject), 'scripts')).sort()).toEqual(['install.js', 'node-headers.js'])
    expect(statSync(tarball).size).toBeLessThan(1024 * 1024)
  })

  test('needs nothing but node-gyp-build', () => {
    const { dependencies } = JSON.parse(npm(builtProject, ['ls', '--omit=dev', '--all', '--json', '--loglevel=error']))
    const names = (all: Record<string, { dependencies?: object }>): unknown =>
      Object.entries(all).map(([name, one]) => [name, names((one.dependencies ?? {}) as typeof all)])
    expect(names(dependencies)).toEqual([['graupel', [['node-gyp-build', []]]]])
  })

  test('is the same, byte by byte, when it is packed again', () => {
    const [one, two] = ['once', 'twice'].map((name) => {
      mkdirSync(join(folder, name))
      return readFileSync(packAll(join(folder, name)))
    })
    expect(one?.equals(two as Buffer)).toBe(true)
  })
})

describe('with a compiler', () => {
  test('the native engine is built from source, which one line says', () => {
    const lines = installOutput.split('\n').filter((line) => line.startsWith('graupel:'))
    expect(lines).toEqual([expect.stringMatching(/^graupel: the native engine was built from source in [\d.]+ s /)])
    expect(run(builtProject, engineOf)).toEqual({
      result: { kind: 'native', file: binary(builtProject) },
      warnings: [],
    })
    expect(run(builtProject, thousandIds).result).toBe(1000)
  })

  test('the package can be required, as CommonJS', () => {
    const program = "console.log(new Set(require('graupel').createGenerator({ node: 7 }).take(1000)).size)"
    const args = ['--no-experimental-require-module', '--input-type=commonjs', '-e', program]
    expect(node(builtProject, args)).toMatchObject({ stdout: '1000\n', stderr: '' })
  })

  test('nothing is built anew while the binary is good', () => {
    expect(reinstall(builtProject)).toMatch(/^graupel: the native engine is up to date/)
  })

  // There are no signals, and other permissions, on Windows.
  test.skipIf(isWindows)('an interrupted installation leaves no binary behind, and the next one makes it', async () => {
    const project = copyProject(bareProject, join(folder, 'interrupted'))
    const program = `
      const { spawn } = await import('node:child_process')
      const { existsSync } = await import('node:fs')
      const child = spawn(process.execPath, ['scripts/install.js'], { stdio: 'ignore' })
      const begun = setInterval(() => existsSync('build/staging/build/Makefile') && child.kill('SIGINT'), 5)
      return await new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? code))
        .on('exit', () => clearInterval(begun)))`
    expect(run(packageFolder(project), program).result).toBe('SIGINT')
    expect(readdirSync(join(packageFolder(project), 'build'))).toEqual([])
    expect(run(project, engineOf).result).toMatchObject({ kind: 'js' })
    expect(reinstall(project)).toContain('was built from source')
  })

  test('a compiler that finds a fault is quoted, and all it said can be read', () => {
    const project = copyProject(bareProject, join(folder, 'faulty'))
    writeFileSync(join(packageFolder(project), 'native/core/clock.cc'), '#error "the sky is falling"\n')
    const line = reinstall(project)
    const log = join(packageFolder(project), 'build/install.log')
    expect(line).toMatch(/^graupel: no native engine, the TypeScript engine will run: .*the sky is falling/)
    expect(line).toContain(log)
    expect(readFileSync(log, 'utf8')).toContain('gyp ERR!')
    expect(run(project, engineOf).result).toMatchObject({ kind: 'js' })
  })
})

describe('without a binary', () => {
  test.each([
    ['GRAUPEL_SKIP_BUILD', '1', /GRAUPEL_SKIP_BUILD is set$/],
    ['GRAUPEL_ENGINE', 'js', /GRAUPEL_ENGINE is 'js'$/],
  ])('%s=%s builds nothing', (name, value, line) => {
    const project = copyProject(bareProject, join(folder, `skip ${name}`))
    expect(reinstall(project, { [name]: value })).toMatch(line)
    expect(run(project, engineOf).result).toMatchObject({ kind: 'js' })
  })

  test('with --ignore-scripts the TypeScript engine runs', () => {
    expectJsWith(bareProject, /no binary for/)
    expect(run(bareProject, thousandIds).result).toBe(1000)
  })
})

describe('a damaged binary', () => {
  test.each([
    ['that does not load', 60],
    ['that ends the process', 0.5],
  ])('%s does not stay where it would be loaded when it cannot be replaced', (_, size) => {
    const project = copyProject(builtProject, join(folder, `damaged ${size}`))
    truncateSync(binary(project), size < 1 ? Math.floor(statSync(binary(project)).size * size) : size)
    expect(reinstall(project, { GRAUPEL_SKIP_BUILD: '1' })).toContain('GRAUPEL_SKIP_BUILD is set')
    expectJsWith(project, /no binary for/)
  })
})

test.skipIf(isWindows)('a read-only package folder breaks neither installation nor import', () => {
  const project = copyProject(bareProject, join(folder, 'read-only'))
  chmodSync(packageFolder(project), 0o555)
  const done = node(packageFolder(project), ['scripts/install.js'], {}, nobody)
  expect(done).toMatchObject({ status: 0, stderr: '' })
  expect(done.stdout).toMatch(
    /^graupel: no native engine, the TypeScript engine will run: .* cannot be written to \(E\w+\)\n$/,
  )
  const program =
    "import('graupel').then(({ createGenerator }) => console.log(createGenerator({ node: 7 }).take(9).length))"
  expect(node(project, ['-e', program], {}, nobody)).toMatchObject({ status: 0, stdout: '9\n' })
  chmodSync(packageFolder(project), 0o755)
})

describe('GRAUPEL_ENGINE', () => {
  test("'js' is a choice, and no reason to warn", () => {
    const { result, warnings } = run(builtProject, engineOf, { GRAUPEL_ENGINE: 'js' })
    expect(result).toEqual({ kind: 'js', reason: "GRAUPEL_ENGINE is 'js'" })
    expect(warnings).toEqual([])
  })

  test("'native' is native, or an error", () => {
    expect(run(builtProject, engineOf, { GRAUPEL_ENGINE: 'native' }).result).toMatchObject({ kind: 'native' })
    const { error, warnings } = run(bareProject, engineOf, { GRAUPEL_ENGINE: 'native' })
    expect(error).toMatchObject({ code: 'ERR_NATIVE_UNAVAILABLE', cause: expect.any(String) })
    expect(warnings).toEqual([])
  })

  test('anything else is refused', () => {
    const { error } = run(builtProject, engineOf, { GRAUPEL_ENGINE: 'nonsense' })
    expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_OPTION_INVALID' })
    expect(error?.message).toContain("GRAUPEL_ENGINE is 'nonsense'")
  })
})

describe('the types', () => {
  const consumer = `import { createGenerator, decode, defineLayout, engineInfo, GraupelError, layouts, type Layout } from 'graupel'
    const ids = createGenerator({ node: { datacenter: 1, worker: 7 }, onRollback: ({ rollbackMs }) => (rollbackMs > 5 ? 'throw' : 'wait') })
    const worker: number = ids.decode(ids.next()).fields.worker
    const few: number = createGenerator({ node: 1, layout: layouts.js53 }).nextNumber()
    const mine: Layout = defineLayout({ name: 'mine', epochMs: 0, tickMs: 1, fields: [['timestamp', 42], ['node', 10], ['sequence', 10]] })
    for (const id of ids.take(3)) console.log(decode(id, layouts.twitter).fields.datacenter, worker, few, mine.name)
    console.log(engineInfo().kind, new GraupelError('ERR_CLOSED', '').code, ids.fill(new BigInt64Array(2)).length)
    try { ids.next() } catch (error) { if (error instanceof GraupelError) console.log(error.code) }
    // @ts-expect-error a twitter id has no such field
    console.log(decode(1n, layouts.twitter).fields.shard)
    // @ts-expect-error it has more than 53 bits
    ids.nextNumber()
    ids.close()`

  /** A module format, a resolution, a file in which they hold, and the compilers that know them. */
  const cases = [
    ['nodenext', 'nodenext', 'consumer.mts', ['typescript-oldest', 'typescript', 'ours']],
    ['nodenext', 'nodenext', 'consumer.cts', ['typescript-oldest', 'typescript', 'ours']],
    ['node16', 'node16', 'consumer.cts', ['typescript-oldest']],
    ['commonjs', 'node10', 'consumer.ts', ['typescript-oldest', 'typescript']],
    ['esnext', 'bundler', 'consumer.ts', ['typescript-oldest', 'typescript', 'ours']],
  ] as const

  test.each(
    cases.flatMap(([module, resolution, file, compilers]) =>
      compilers.map((compiler) => [module, resolution, file, compiler] as const),
    ),
  )('are right for module %s, resolution %s, in %s, by %s', (module, resolution, file, compiler) => {
    const isOurs = compiler === 'ours'
    const program = isOurs ? join(repository, 'node_modules/typescript/bin/tsc') : tool(`${compiler}/bin/tsc`)
    // Without Node's types there is no console either; what a consumer needs of the package must not need them.
    for (const types of isOurs ? ['node', ''] : ['']) {
      const console = types === '' ? 'declare const console: { log(...values: unknown[]): void }\n' : ''
      writeFileSync(join(builtProject, file), console + consumer)
      const options = {
        noEmit: true,
        strict: true,
        skipLibCheck: false,
        lib: ['es2022'],
        target: 'es2022',
        types: types === '' ? [] : [types],
        typeRoots: [join(repository, 'node_modules/@types')],
        module,
        moduleResolution: resolution,
      }
      writeFileSync(join(builtProject, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: [file] }))
      expect(node(builtProject, [program, '-p', '.'])).toMatchObject({ stdout: '', status: 0 })
    }
  })

  test('are those of a TypeScript that docs/platforms.md names as the oldest', () => {
    const { version } = JSON.parse(readFileSync(tool('typescript-oldest/package.json'), 'utf8'))
    const page = readFileSync(join(repository, 'docs/platforms.md'), 'utf8')
    expect(page).toContain(`TypeScript ${version.replace(/\.\d+$/, '')}`)
  })
})

describe('for browsers', () => {
  test('nothing of Node is imported', () => {
    const { imports } = JSON.parse(readFileSync(join(packageFolder(builtProject), 'package.json'), 'utf8'))
    const importing = /(?:^(?:import|export)\b[^'"=(/]*?|\bimport\(\s*)['"]([^'"]+)['"]/gm
    const seen = new Set<string>()
    const walk = (file: string) => {
      if (seen.has(file)) return
      seen.add(file)
      const text = readFileSync(join(packageFolder(builtProject), file), 'utf8')
      expect(text).not.toContain('getBuiltinModule')
      for (const [, specifier = ''] of text.matchAll(importing)) {
        expect(specifier, `${file} imports it`).toMatch(/^(\.|#platform$)/)
        walk(specifier === '#platform' ? imports['#platform'].browser.slice(2) : posix.join(file, '..', specifier))
      }
    }
    walk('dist/index.js')
    expect([...seen]).toContain('dist/platform/browser.js')
    expect([...seen]).not.toContain('dist/platform/node.js')
  })

  test('the TypeScript engine runs under the condition', () => {
    const { result, warnings } = run(builtProject, engineOf, {}, ['--conditions=browser'])
    expect(result).toMatchObject({ kind: 'js' })
    // There is nothing to be done about it.
    expect(warnings).toEqual([])
    expect(run(builtProject, thousandIds, {}, ['--conditions=browser']).result).toBe(1000)
  })

  test('what require() gives runs there, too, as in Jest with a DOM', () => {
    const program = "console.log(require('graupel').engineInfo().reason)"
    const args = ['--no-experimental-require-module', '--conditions=browser', '-e', program]
    expect(node(builtProject, args)).toMatchObject({ stdout: expect.stringContaining('for browsers'), stderr: '' })
  })
})

/** What the install script says, run as npm runs it. */
function reinstall(project: string, variables: Record<string, string> = {}): string {
  const { status, stdout, stderr } = node(packageFolder(project), ['scripts/install.js'], withNodeGyp(variables))
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.trim()
}

/** Npm tells its scripts where its node-gyp is; the one of this repository does as well. */
function withNodeGyp(variables: Record<string, string>): Record<string, string> {
  return { npm_config_node_gyp: join(repository, 'node_modules/node-gyp/bin/node-gyp.js'), ...variables }
}

/** The engine is js, one warning says why, and whoever asks for native is told the same. */
function expectJsWith(project: string, reason: RegExp): void {
  const twice = `const { createGenerator, engineInfo } = await import('graupel')
    createGenerator({ node: 7 }).next()
    return engineInfo()`
  const { result, warnings } = run(project, twice)
  expect(result).toMatchObject({ kind: 'js', reason: expect.stringMatching(reason) })
  expect(warnings).toEqual([{ code: 'GRAUPEL_JS_ENGINE', message: expect.stringMatching(reason) }])
  const { error }: Outcome = run(
    project,
    `const { createGenerator } = await import('graupel'); createGenerator({ node: 7, engine: 'native' })`,
  )
  expect(error).toMatchObject({ code: 'ERR_NATIVE_UNAVAILABLE', message: expect.stringMatching(reason) })
  expect(error?.cause).toMatch(/Error/)
}
