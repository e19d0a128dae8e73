import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmBinary, npmNode } from '../../scripts/npm-binary.ts'
import { blocksOf, repository } from '../support/documents.ts'
import { packageFolder, temporaryFolder } from './consumer.ts'
import { installWithBinary } from './tarball.ts'

// Makes single executables and startup snapshots by the commands of docs/platforms.md, on the oldest Node and
// the newest. GRAUPEL_TEST_NODES has others, as in `20.19,22,24,26`.

const blocks = blocksOf('docs/platforms.md').filter(
  ({ code }) => code.includes('--outfile=') || code.includes('startupSnapshot'),
)
const [executable = '', snapshotService = '', snapshot = ''] = blocks.map(({ code }) => code)

const service = `
  import { createGenerator, engineInfo } from 'graupel'
  const ids = createGenerator({ node: 7 })
  console.log(JSON.stringify({ id: ids.nextString(), engine: engineInfo().kind }))`

/**
 * Calls everything that hands out numbers, while the snapshot is built and in a process that starts from it.
 */
const everything = `
  import { startupSnapshot } from 'node:v8'
  import { createGenerator, decode, engineInfo, layouts } from 'graupel'
  import { connect } from 'graupel/client'
  import { acquireLease } from 'graupel/lease'
  import { createCounter, createSegmentGenerator } from 'graupel/segments'
  import { memoryStore } from 'graupel/stores'
  import { createRandomUuidGenerator } from 'graupel/uuid'

  const store = memoryStore()
  const headers = { 'content-type': 'application/vnd.graupel.runs', 'graupel-byte-order': 'little-endian', 'graupel-layout': 'twitter' }
  const fetch = async () => new Response(new BigUint64Array([1n, 0x1_0000_000an]), { headers })
  const calls = {
    engineInfo,
    generator: () => createGenerator({ node: 7 }),
    'generator of a thread': () => createGenerator({ node: 8, state: 'thread' }),
    'js generator': () => createGenerator({ node: 9, engine: 'js' }),
    lease: () => acquireLease({ store }),
    counter: () => createCounter({ store, name: 'counter' }),
    segments: () => createSegmentGenerator({ store, name: 'segments' }),
    'random UUIDs': () => createRandomUuidGenerator(),
    client: () => connect({ url: 'http://service', count: 10, fetch }),
  }
  async function callAll() {
    const outcomes = { decoded: decode(1541815603606036480n, layouts.twitter).timestampMs }
    for (const [name, call] of Object.entries(calls)) {
      try {
        await call()
        outcomes[name] = 'made'
      } catch (error) {
        outcomes[name] = error.code
      }
    }
    console.log(JSON.stringify(outcomes))
  }
  callAll()
  startupSnapshot.setDeserializeMainFunction(() => callAll().then(() => process.exit()))`

/** Prints the version of a write, after the program has drawn a UUID while the snapshot was built. */
const versions = `
  import { startupSnapshot } from 'node:v8'
  import { memoryStore } from 'graupel/stores'

  crypto.randomUUID()
  startupSnapshot.setDeserializeMainFunction(async () => console.log(await memoryStore().write('key', 'value')))`

const names = [
  'engineInfo',
  'generator',
  'generator of a thread',
  'js generator',
  'lease',
  'counter',
  'segments',
  'random UUIDs',
  'client',
]
const outcomes = (outcome: string) =>
  JSON.stringify({ decoded: 1656432460105, ...Object.fromEntries(names.map((name) => [name, outcome])) })

let project: string
beforeAll(() => {
  project = temporaryFolder()
  installWithBinary(project)
  const bin = join(project, 'node_modules/.bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(join(repository, 'node_modules/.bin/esbuild'), join(bin, 'esbuild'))
  symlinkSync(npmBinary('postject', '1.0.0-alpha.6', 'dist/cli.js'), join(bin, 'postject'))
}, 600_000)
afterAll(() => rmSync(project, { recursive: true, force: true }))

/** Runs commands of the document in the project, by a release of Node. Returns what the last line prints. */
function run(
  program: string,
  commands: string,
  variables: Record<string, string> = {},
): { stdout: string; stderr: string } {
  const path = [dirname(program), process.env['PATH']].join(delimiter)
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', commands], {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, PATH: path, GRAUPEL_STATE_FOLDER: project, GRAUPEL_ENGINE: '', ...variables },
  })
  expect(status, `${commands}\n${stderr}`).toBe(0)
  return { stdout, stderr }
}

const nodes = process.env['GRAUPEL_TEST_NODES'] ?? '20.19,26'

// The commands are for Linux.
describe.runIf(process.platform === 'linux').each(nodes.split(','))('Node %s', (version) => {
  let program: string
  beforeAll(() => {
    program = npmNode(version)
  }, 600_000)

  it('a single executable has the native engine if the package is beside it, and else the js engine', () => {
    writeFileSync(join(project, 'service.js'), service)
    run(program, executable)
    const away = temporaryFolder()
    renameSync(join(project, 'service'), join(away, 'service'))
    const start = (variables = {}) => {
      const { stdout, stderr } = run(program, `"${away}/service"`, variables)
      return [JSON.parse(stdout).engine, stderr.includes('GRAUPEL_JS_ENGINE')]
    }
    expect(start()).toEqual(['js', true])
    expect(start({ GRAUPEL_ENGINE: 'js' })).toEqual(['js', false])
    const beside = join(away, 'node_modules/graupel')
    for (const name of ['package.json', 'prebuilds'])
      cpSync(join(packageFolder(project), name), join(beside, name), { recursive: true })
    expect(start()).toEqual(['native', false])
    rmSync(away, { recursive: true })
  })

  it.each(['native', 'js'])('processes that start from one snapshot make different ids on the %s engine', (engine) => {
    const variables = { GRAUPEL_ENGINE: engine }
    writeFileSync(join(project, 'service.js'), snapshotService)
    const lines = snapshot.trimEnd().split('\n')
    expect(run(program, lines.slice(0, -1).join('\n'), variables).stdout).toBe('')
    const ids = [1, 2, 3].map(() => run(program, lines.at(-1) as string, variables).stdout.trim())
    expect(new Set(ids).size).toBe(3)
    expect(ids).toEqual(ids.toSorted())
    for (const id of ids) expect(id).toMatch(/^\d{19}$/)
  })

  it('processes that start from one snapshot write different versions, even if Node repeats UUIDs', () => {
    writeFileSync(join(project, 'service.js'), versions)
    const lines = snapshot.trimEnd().split('\n')
    run(program, lines.slice(0, -1).join('\n'))
    const written = [1, 2, 3].map(() => run(program, lines.at(-1) as string).stdout.trim())
    expect(new Set(written).size).toBe(3)
    for (const version of written) expect(version).toMatch(/^[\da-f-]{36}$/)
  })

  it('nothing that hands out numbers is made while a snapshot is built', () => {
    writeFileSync(join(project, 'service.js'), everything)
    const lines = snapshot.trimEnd().split('\n')
    expect(run(program, lines.slice(0, -1).join('\n')).stdout.trim()).toBe(outcomes('ERR_STATE_UNREACHABLE'))
    // A process has one engine.
    const started = { ...JSON.parse(outcomes('made')), 'js generator': 'ERR_STATE_UNREACHABLE' }
    expect(JSON.parse(run(program, lines.at(-1) as string).stdout)).toEqual(started)
  })
})
