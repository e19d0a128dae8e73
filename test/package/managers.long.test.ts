import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { trustOfRegistry } from '../../scripts/authorities.ts'
import { npmBinary, npmNode } from '../../scripts/npm-binary.ts'
import { run, temporaryFolder } from './consumer.ts'
import { bareTarball, binaryPath, publishedBinary, repack } from './tarball.ts'

// Installations of the tarball by the package managers of npm's registry, with scripts allowed as each
// manager allows them.

const folder = temporaryFolder()
let tarball: string

beforeAll(() => {
  tarball = repack(bareTarball(), join(folder, 'whole'), (content) => {
    mkdirSync(dirname(join(content, binaryPath)), { recursive: true })
    copyFileSync(publishedBinary(), join(content, binaryPath))
  })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const isUsual = process.platform === 'linux' && process.arch === 'x64'
const ofNode = (program: () => string) => () => [process.execPath, program()]
const managers: Record<string, [command: () => string[], words: string[]]> = {
  'npm 11': [ofNode(() => npmBinary('npm', '11', 'bin/npm-cli.js')), ['install']],
  // It does not run on Node 20.
  'npm 12': [() => [npmNode('22'), npmBinary('npm', '12', 'bin/npm-cli.js')], ['install']],
  'npm 12, strict': [
    () => [npmNode('22'), npmBinary('npm', '12', 'bin/npm-cli.js')],
    ['install', '--strict-allow-scripts'],
  ],
  pnpm: [ofNode(() => npmBinary('pnpm', '10', 'bin/pnpm.cjs')), ['add']],
  yarn: [ofNode(() => npmBinary('yarn', '1', 'bin/yarn.js')), ['add']],
  bun: [() => [npmBinary('@oven/bun-linux-x64', '1', 'bin/bun')], ['add']],
}

test.runIf(isUsual).each(Object.entries(managers))(
  '%s runs no script, has nothing to warn of, and the engine is native',
  (name, [command, words]) => {
    const project = join(folder, name)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "name": "consumer", "private": true }\n')
    const [program = '', ...first] = command()
    const { status, stdout, stderr } = spawnSync(program, [...first, ...words, tarball], {
      cwd: project,
      encoding: 'utf8',
      env: environment(),
    })
    expect(status, stderr).toBe(0)
    expect(`${stdout}${stderr}`).not.toMatch(/warn|script|blocked|trust/i)
    const { result, warnings } = run(project, "return (await import('graupel')).engineInfo()")
    expect({ result, warnings }).toMatchObject({ result: { kind: 'native' }, warnings: [] })
  },
)

/**
 * Returns the environment with the registry of the tests, and without the settings of their npm, of which
 * newer ones know less.
 */
function environment(): NodeJS.ProcessEnv {
  const { PATH, npm_config_registry } = process.env
  const { stdout } = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' })
  const registry = npm_config_registry ?? stdout.trim()
  const home = join(folder, 'home')
  return {
    PATH,
    HOME: home,
    npm_config_registry: registry,
    BUN_CONFIG_REGISTRY: registry,
    // pnpm tells of its own updates.
    NO_UPDATE_NOTIFIER: '1',
    ...trustOfRegistry(),
  }
}
