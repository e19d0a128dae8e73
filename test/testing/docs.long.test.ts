import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { node, temporaryFolder, tool } from '../package/consumer.ts'
import { installWithBinary } from '../package/tarball.ts'
import { blocksOf, repository } from '../support/documents.ts'
import { engines } from '../support/engines.ts'
import { program } from '../support/examples.ts'

// The code of docs/testing.md. A block that begins with the name of a file becomes that file in a project,
// whose tests real runners run. Every other block is a program.

const blocks = blocksOf('docs/testing.md')
const fileName = /^\/\/ ([\w.]+\.js)\n/
const files = new Map(
  blocks.flatMap(({ code }) => {
    const [, name] = fileName.exec(code) ?? []
    return name === undefined ? [] : [[name, code] as const]
  }),
)
const programs = blocks.filter(({ code }) => !fileName.test(code))
/** More tests of clocks than the document has. */
const more = readFileSync(join(repository, 'test/testing/programs/clocks.test.js'), 'utf8')

let folder: string
beforeAll(() => {
  folder = temporaryFolder()
  installWithBinary(folder)
  symlinkSync(join(repository, 'node_modules/vitest'), join(folder, 'node_modules/vitest'), 'junction')
  project('vitest', 'module', (code) => code)
  project('jest', 'commonjs', (code) => code.replace(/^import .* from 'vitest'\n/m, '').replaceAll('vi.', 'jest.'))
  write(
    'vitest/vitest.config.js',
    "export default { test: { setupFiles: ['./vitest.setup.js', './workers.setup.js'] } }\n",
  )
  // The preset of ts-jest for projects that are partly JavaScript.
  const compiler = { target: 'es2022', module: 'commonjs', allowJs: true, isolatedModules: true }
  const transform = { '\\.js$': [tool('ts-jest/dist/index.js'), { tsconfig: compiler }] }
  write(
    'jest/jest.config.json',
    JSON.stringify({
      transform,
      setupFiles: ['<rootDir>/workers.setup.js'],
      setupFilesAfterEnv: ['<rootDir>/jest.setup.js'],
    }),
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(file: string, text: string): void {
  writeFileSync(join(folder, file), text)
}

function project(name: string, type: string, translate: (code: string) => string): void {
  mkdirSync(join(folder, name))
  write(`${name}/package.json`, JSON.stringify({ private: true, type }))
  for (const [file, code] of [...files, ['clocks.test.js', more] as const]) write(`${name}/${file}`, translate(code))
}

function expectSuccess({ status, stdout, stderr }: SpawnSyncReturns<string>, summary: RegExp): void {
  expect(status, stdout + stderr).toBe(0)
  expect(stdout + stderr).toMatch(summary)
}

it('the document has programs and the files of projects', () => {
  expect([...files.keys()]).toEqual([
    'ids.js',
    'orders.js',
    'vitest.setup.js',
    'jest.setup.js',
    'orders.test.js',
    'orders.node.js',
    'snapshots.test.js',
    'time.test.js',
    'workers.setup.js',
    'workers.test.js',
  ])
  expect(programs.length).toBeGreaterThan(3)
  expect(blocks.filter(({ language }) => language !== 'js')).toEqual([])
})

describe.each(engines)('on the %s engine', (engine) => {
  const variables = { GRAUPEL_ENGINE: engine, CI: 'true', NO_COLOR: '1' }

  it.each(programs)('$file:$line runs, and gives the results in its comments', ({ line, code }) => {
    const file = join(folder, `${line}.mjs`)
    writeFileSync(file, program(code))
    const env = { ...process.env, GRAUPEL_ENGINE: engine }
    expect(spawnSync(process.execPath, [file], { encoding: 'utf8', env })).toMatchObject({ stderr: '', status: 0 })
  })

  it('Vitest passes', () => {
    const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
    // On the js engine threads are the harder case, because the main thread belongs to the runner, and has
    // not loaded graupel.
    const flags = [`--pool=${engine === 'js' ? 'threads' : 'forks'}`, '--maxWorkers=2']
    const done = node(join(folder, 'vitest'), [vitest, 'run', ...flags], variables)
    expectSuccess(done, /Test Files\s+5 passed \(5\)/)
  })

  it('Jest passes', () => {
    const flags = ['--ci', '--watchman=false', '--maxWorkers=2', `--cacheDirectory=${join(folder, 'cache')}`]
    const done = node(join(folder, 'jest'), [tool('jest/bin/jest.js'), ...flags], variables)
    expectSuccess(done, /Test Suites: 5 passed, 5 total/)
  })

  it('node --test passes', () => {
    const words = ['--test', '--test-reporter=tap', '--experimental-test-module-mocks', 'orders.node.js']
    expectSuccess(node(join(folder, 'vitest'), words, variables), /# pass 1\n# fail 0/)
  })
})
