import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { repository } from '../support/documents.ts'
import { node, temporaryFolder, tool } from './consumer.ts'
import { installWithBinary } from './tarball.ts'

// Test runners load a module again for each test file, many in a new context, and run the files in one
// process, in several processes or in threads. The tests use real runners, on a small service that makes ids
// in each of three test files.

const folder = temporaryFolder()
const commonJs = join(folder, 'commonjs')
const typescript = join(folder, 'typescript')
const files = ['first', 'second', 'third']
const idsOfAFile = 3000
let runs = 0

beforeAll(() => {
  installWithBinary(folder)
  writeProject(commonJs, 'js', (names, from) => `const { ${names} } = require('${from}')`)
  writeProject(typescript, 'ts', (names, from) => `import { ${names} } from '${from}'`)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/**
 * The same service and tests for each runner: `test` and `expect` are globals in Jest, and in Vitest by an
 * option.
 */
function writeProject(project: string, extension: string, load: (names: string, from: string) => string): void {
  const isTyped = extension === 'ts'
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
  writeFileSync(
    join(project, `service.${extension}`),
    `${load('createGenerator', 'graupel')}
    ${isTyped ? 'declare const process: any' : ''}
    const { JEST_WORKER_ID, VITEST_POOL_ID, SERVICE_NAMESPACE, SERVICE_STATE } = process.env
    // A node for each worker of the test runner.
    const ids = create()
    function create() {
      try {
        return createGenerator({
          node: Number(VITEST_POOL_ID ?? JEST_WORKER_ID),
          namespace: SERVICE_NAMESPACE,
          ...(SERVICE_STATE && { state: SERVICE_STATE }),
        })
      } catch (error${isTyped ? ': any' : ''}) {
        // Not every runner shows the code.
        throw new Error((error.code ?? error.name) + ': ' + error.message)
      }
    }
    ${isTyped ? 'export ' : ''}function make()${isTyped ? ': bigint[]' : ''} {
      const made = Array.from({ length: ${idsOfAFile / 3} }, () => ids.next())
      return [...made, ...ids.take(${idsOfAFile / 3}), ...ids.fill(new BigUint64Array(${idsOfAFile / 3}))]
    }
    ${isTyped ? '' : 'module.exports = { make }'}\n`,
  )
  for (const name of files) {
    writeFileSync(
      join(project, `${name}.test.${extension}`),
      `${load('make', './service')}
      ${isTyped ? 'declare const process: any, test: any, expect: any' : ''}
      test('${name}', () => {
        const made = make()
        expect(new Set(made).size).toBe(${idsOfAFile})
        process.getBuiltinModule('node:fs').writeFileSync(process.env.SERVICE_OUTPUT + '/${name}', made.join(' '))
      })\n`,
    )
  }
  const transform = {
    '\\.ts$': [
      tool('ts-jest/dist/index.js'),
      { tsconfig: { target: 'es2022', module: 'commonjs', isolatedModules: true } },
    ],
  }
  // With JavaScript, Jest has its defaults.
  if (isTyped) writeFileSync(join(project, 'jest.config.json'), JSON.stringify({ transform }))
}

type Runner = readonly [project: string, ...args: string[]]

const cache = join(folder, 'cache')
const jest = [tool('jest/bin/jest.js'), '--ci', '--watchman=false', `--cacheDirectory=${cache}`]
const vitest = [join(repository, 'node_modules/vitest/vitest.mjs'), 'run', '--globals', '--maxWorkers=2']

/** Runs the three files. Returns the runner's output and the ids of the files. */
function start([project, ...args]: Runner, engine: 'native' | 'js', state = '') {
  const output = join(folder, `run ${++runs}`)
  mkdirSync(output)
  // From its cache Jest would know that the tests are short, and run them without workers.
  rmSync(cache, { recursive: true, force: true })
  const { status, stdout, stderr } = node(project, args, {
    GRAUPEL_ENGINE: engine,
    SERVICE_NAMESPACE: `test runner ${process.pid} ${runs}`,
    SERVICE_STATE: state,
    SERVICE_OUTPUT: output,
  })
  const ids = readdirSync(output).flatMap((name) => readFileSync(join(output, name), 'utf8').split(' '))
  return { status, said: stdout + stderr, made: ids.length, distinct: new Set(ids).size }
}

function expectDistinct({ said, ...outcome }: ReturnType<typeof start>): void {
  const all = files.length * idsOfAFile
  expect(outcome, said).toEqual({ status: 0, made: all, distinct: all })
}

describe.each(['native', 'js'] as const)('on the %s engine', (engine) => {
  test.each<[string, Runner]>([
    ['Jest, in one process', [commonJs, ...jest, '--runInBand']],
    ['Jest, in two processes', [commonJs, ...jest, '--maxWorkers=2']],
    ['ts-jest, in one process', [typescript, ...jest, '--runInBand']],
    ['Vitest, pool forks', [typescript, ...vitest, '--pool=forks']],
    ['Vitest, pool vmForks', [typescript, ...vitest, '--pool=vmForks']],
  ])('%s: all ids are distinct', (_, runner) => {
    expectDistinct(start(runner, engine))
  })

  test.each<[string, Runner]>([
    ['Jest, in two threads', [commonJs, ...jest, '--maxWorkers=2', '--workerThreads']],
    ['Vitest, pool threads', [typescript, ...vitest, '--pool=threads']],
    ['Vitest, pool vmThreads', [typescript, ...vitest, '--pool=vmThreads']],
  ])('%s: all ids are distinct, on js with the state that the refusal names', (_, runner) => {
    if (engine === 'native') {
      expectDistinct(start(runner, engine))
      return
    }
    // The main thread belongs to the runner, and has not loaded graupel.
    const refused = start(runner, engine)
    expect(refused, refused.said).toMatchObject({ status: 1, made: 0 })
    expect(refused.said).toContain('ERR_STATE_UNREACHABLE')
    expect(refused.said).toContain("state: 'thread'")
    expectDistinct(start(runner, engine, 'thread'))
  })
})

describe('Jest with jsdom imports every entry, and makes, decodes and writes ids', () => {
  const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json')

  test.each<[string, { testEnvironmentOptions?: object }, string[]]>([
    // One entry is for Node, and one needs a peer, which is an ES module.
    ['in the form for browsers', {}, entries.filter((name) => !/stores\/url|mask/.test(name))],
    ['in the form for Node', { testEnvironmentOptions: { customExportConditions: ['node'] } }, entries],
  ])('%s', (form, options, names) => {
    const project = join(folder, `jsdom ${form}`)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
    const environment = { testEnvironment: tool('jest-environment-jsdom'), ...options }
    writeFileSync(join(project, 'jest.config.json'), JSON.stringify(environment))
    writeFileSync(
      join(project, 'page.test.js'),
      `test.each(${JSON.stringify(names.map((name) => name.replace('.', 'graupel')))})('%s', (name) => {
        expect(Object.keys(require(name))).not.toEqual([])
      })
      test('ids', () => {
        expect([typeof window, typeof TextEncoder]).toEqual(['object', 'undefined'])
        const { createGenerator, encodeId } = require('graupel')
        const { createUuidGenerator } = require('graupel/uuid')
        const ids = createGenerator({ node: 7 })
        expect(new Set(ids.take(1000)).size).toBe(1000)
        expect(ids.decode(ids.next()).node).toBe(7)
        expect(encodeId(ids.next(), 'base62')).toHaveLength(11)
        expect(new Set(createUuidGenerator({ ids }).take(1000)).size).toBe(1000)
      })\n`,
    )
    const { status, stderr } = node(project, [...jest, '--runInBand'])
    expect(status, stderr).toBe(0)
  })
})
